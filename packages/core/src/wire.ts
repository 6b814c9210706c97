/**
 * The wire types of Multi Round-Trip Requests under one roof: the SDK's own, never re-declared, each with
 * the SDK's guard beside it.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr (SEP-2322)
 */

import type {
  CallToolResult,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  GetPromptResult,
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  InputResponses,
  ListRootsRequest,
  ListRootsResult,
  ReadResourceResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import { isSpecType } from '@modelcontextprotocol/server';

export type {
  CallToolResult,
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  GetPromptResult,
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  InputResponses,
  ListRootsRequest,
  ListRootsResult,
  McpServer,
  ReadResourceResult,
  ServerContext,
  StandardSchemaV1,
  StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
export { inputRequired, isCallToolResult, isInputRequiredResult } from '@modelcontextprotocol/server';

/** The three methods that may answer `input_required`, and no other (basic/patterns/mrtr). */
export const MRTR_METHODS = ['tools/call', 'prompts/get', 'resources/read'] as const;

/** One of {@link MRTR_METHODS}. */
export type MrtrMethod = (typeof MRTR_METHODS)[number];

/** Whether `method` may answer `input_required`. */
export const isMrtrMethod = (method: unknown): method is MrtrMethod =>
  (MRTR_METHODS as readonly unknown[]).includes(method);

/** A complete result of one of {@link MRTR_METHODS}. */
export type CompleteResult = CallToolResult | GetPromptResult | ReadResourceResult;

/**
 * A callback as the SDK registers it, for a tool or prompt with arguments (`input` is the arguments) or a
 * resource (`input` is its URL).
 */
export type SdkCallback<Input, R extends CompleteResult> = (
  input: Input,
  ctx: ServerContext,
) => Promise<R | InputRequiredResult>;

/** Whether `value` is an `elicitation/create` input request. */
export const isElicitRequest = (value: unknown): value is ElicitRequest => isSpecType.ElicitRequest(value);

/** Whether `value` is a `sampling/createMessage` input request. */
export const isCreateMessageRequest = (value: unknown): value is CreateMessageRequest =>
  isSpecType.CreateMessageRequest(value);

/** Whether `value` is a `roots/list` input request. */
export const isListRootsRequest = (value: unknown): value is ListRootsRequest =>
  isSpecType.ListRootsRequest(value);

/** Whether `value` is any of the three input requests. */
export const isInputRequest = (value: unknown): value is InputRequest =>
  isElicitRequest(value) || isCreateMessageRequest(value) || isListRootsRequest(value);

/** Whether `value` is a map of input requests. */
export const isInputRequests = (value: unknown): value is InputRequests => everyEntry(value, isInputRequest);

/** Whether `value` is an elicitation's bare result. */
export const isElicitResult = (value: unknown): value is ElicitResult => isSpecType.ElicitResult(value);

/** Whether `value` is a sampling request's bare result. */
export const isCreateMessageResult = (value: unknown): value is CreateMessageResult =>
  isSpecType.CreateMessageResult(value);

/** Whether `value` is a roots request's bare result. */
export const isListRootsResult = (value: unknown): value is ListRootsResult =>
  isSpecType.ListRootsResult(value);

/** Whether `value` is any of the three input responses. */
export const isInputResponse = (value: unknown): value is InputResponse =>
  isElicitResult(value) || isCreateMessageResult(value) || isListRootsResult(value);

/** Whether `value` is a map of input responses. */
export const isInputResponses = (value: unknown): value is InputResponses =>
  everyEntry(value, isInputResponse);

/** Whether `value` is a complete result of `prompts/get`. */
export const isGetPromptResult = (value: unknown): value is GetPromptResult =>
  isSpecType.GetPromptResult(value);

/** Whether `value` is a complete result of `resources/read`. */
export const isReadResourceResult = (value: unknown): value is ReadResourceResult =>
  isSpecType.ReadResourceResult(value);

function everyEntry(value: unknown, guard: (entry: unknown) => boolean): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(guard)
  );
}
