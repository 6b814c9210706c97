/** Makes the rounds of one logical call, without the cost of a real client. */
import { isInputRequiredResult } from '@modelcontextprotocol/server';

/** Sends the JSON-RPC request of one round and returns what came back. */
export type Exchange = (request: object, tool: string) => Promise<Reply>;

/** A response. */
export interface Reply {
  readonly result?: { readonly isError?: boolean } & Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

/** A tool, its arguments, and the answers that finish its call. */
export interface Plan {
  readonly tool: string;
  readonly arguments: () => object;
  readonly answers: Readonly<Record<string, object>>;
}

/** One question. */
export const weather: Plan = {
  tool: 'get_weather',
  arguments: () => ({ location: 'Tokyo' }),
  answers: { units: { units: 'metric' }, answer: { units: 'metric' } },
};

let items = 0;

/** Two questions, worded differently in each call. */
export const workItem: Plan = {
  tool: 'resolve_work_item',
  arguments: () => ({ id: 1000 + (items++ % 90_000), state: 'Resolved' }),
  answers: { resolution: { resolution: 'Duplicate' }, original: { original: 4301 } },
};

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

let ids = 0;

/** A client's request in a round, without its number. */
type Params = Readonly<Record<string, unknown>>;

/** The server's questions; undefined if the call is over. */
type Asked = { readonly inputRequests?: object; readonly requestState?: string } | undefined;

/** The request of a call's first round. */
export const opening = ({ tool, arguments: args }: Plan): Params => ({
  name: tool,
  arguments: args(),
  _meta: META,
});

/** The request of the round after `asked`. */
export function answering({ answers }: Plan, params: Params, asked: NonNullable<Asked>): Params {
  const { inputRequests = {}, requestState } = asked;
  const given = Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: answers[key] }]);
  return { ...params, inputResponses: Object.fromEntries(given), requestState };
}

/** Makes one round. @throws Error when it ends with an error. */
export async function round(exchange: Exchange, { tool }: Plan, params: Params): Promise<Asked> {
  const request = { jsonrpc: '2.0', id: ++ids, method: 'tools/call', params };
  const { result, error } = await exchange(request, tool);
  if (!result || result.isError) throw new Error(`${tool}: ${JSON.stringify(error ?? result)}`);
  return isInputRequiredResult(result) ? result : undefined;
}

/** Makes the whole call, and returns the number of rounds. @throws Error when it does not end as it should. */
export async function call(exchange: Exchange, plan: Plan): Promise<number> {
  const params = opening(plan);
  let next = params;
  for (let rounds = 1; ; rounds++) {
    const asked = await round(exchange, plan, next);
    if (!asked) return rounds;
    next = answering(plan, params, asked);
  }
}

/** Headers of a request for `tool`. */
export const headersFor = (tool: string): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': tool,
});

/** The JSON-RPC message in a response's body, which may be one event of a stream. */
export const replyIn = (body: string): Reply =>
  JSON.parse(body.startsWith('{') ? body : (/^data: (.+)$/m.exec(body)?.[1] ?? '{}')) as Reply;

/** Exchanges with a web-standard handler in this process. */
export const inProcess =
  ({ fetch }: { readonly fetch: (request: Request) => Promise<Response> }): Exchange =>
  async (request, tool) => {
    const init = { method: 'POST', headers: headersFor(tool), body: JSON.stringify(request) };
    const response = await fetch(new Request('http://bench.invalid/mcp', init));
    return replyIn(await response.text());
  };
