/** `@mrtr/shapes/tool-builder`: shape G. */
export { type FinishedTool, ToolBuilder } from './tool-builder.ts';
