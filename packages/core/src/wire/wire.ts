/**
 * The methods that may ask, the callbacks behind them, and entries that a client names.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr (SEP-2322)
 */
import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  ReadResourceResult,
  ServerContext,
} from '@modelcontextprotocol/server';

/** The only three methods that may answer `input_required` (basic/patterns/mrtr). */
export const MRTR_METHODS = ['tools/call', 'prompts/get', 'resources/read'] as const;

/** One of {@link MRTR_METHODS}. */
export type MrtrMethod = (typeof MRTR_METHODS)[number];

/** Whether `method` may answer `input_required`. */
export const isMrtrMethod = (method: unknown): method is MrtrMethod =>
  (MRTR_METHODS as readonly unknown[]).includes(method);

/** A complete result of one of {@link MRTR_METHODS}. */
export type CompleteResult = CallToolResult | GetPromptResult | ReadResourceResult;

type Variables = Readonly<Record<string, string | string[]>>;

/**
 * A callback that the SDK registers: for a tool or prompt with arguments (`input` holds them), for one without (only
 * `ctx`), for a resource (`input` is its URL), or for one with a template (`input` is `{ uri, variables }`).
 */
export interface SdkCallback<Input, R extends CompleteResult> {
  (ctx: ServerContext): Promise<R | InputRequiredResult>;
  (uri: URL, variables: Variables, ctx: ServerContext): Promise<R | InputRequiredResult>;
  (input: Input, ctx: ServerContext): Promise<R | InputRequiredResult>;
}

/** The members of an object whose values nobody has checked. */
export type Members = Readonly<Record<string, unknown>>;

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Whether a value is an object and no list. */
export const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A record with the same keys. The key `__proto__` is one like any other. */
export const mapValues = <T, U>(
  record: Readonly<Record<string, T>>,
  change: (value: T) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** `record[key]`, without inherited entries: a client chooses the keys, and `__proto__` must find nothing. */
export const ownEntry = (record: Members | undefined, key: string) =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
