/** `@mrtr/shapes/tool-builder`: shape G. */
export type { HandlerContext, LogLevel } from '../kit/handler-context.ts';
export type { RecordedOptions } from '../kit/recorded.ts';
export { type FinishedTool, type StepContext, type StepData, ToolBuilder } from './tool-builder.ts';
