/** A client's call and its result. */
import type {
  CallToolResult,
  ElicitResult,
  GetPromptResult,
  ListRootsResult,
  ReadResourceResult,
} from '@modelcontextprotocol/client';

/**
 * One logical call: one of the three requests that a server may answer with a question.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr (SEP-2322)
 */
export type LogicalCall =
  | { readonly method: 'tools/call'; readonly params: Named<unknown> }
  | { readonly method: 'prompts/get'; readonly params: Named<string> }
  | { readonly method: 'resources/read'; readonly params: { readonly uri: string } };

interface Named<Value> {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, Value>>;
}

/** The complete result of a {@link LogicalCall}. */
export type CallResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** One of the client's roots. */
export type Root = ListRootsResult['roots'][number];

/**
 * The client. `modern` is the SDK's v2 client, which speaks 2026-07-28 and falls back to 2025-11-25 at an old server.
 * `modern-only` does not fall back. `legacy` is the published v1 SDK's client, which speaks 2025-11-25.
 */
export type ClientKind = 'modern' | 'modern-only' | 'legacy';

/** The era of a client: `modern` knows `input_required` results, `legacy` is asked by requests of the server. */
export type Era = 'modern' | 'legacy';

/** The era of a client. */
export const eraOf = (client: ClientKind): Era => (client === 'legacy' ? 'legacy' : 'modern');

/** An answer, a decline, a cancel, or `silence`: the client continues without an answer. */
export type Reply = ElicitResult | 'silence';
