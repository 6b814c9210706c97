/** The outcome of a reply: a question, a result, an error, or nothing usable. */
import { asText } from '@mrtr/harness/transcript';
import {
  asList,
  asObject,
  canonical,
  isObject,
  type JsonObject,
  mapMembers,
  objectAt,
  shorten,
} from './json.ts';
import type { RpcError, ServerReply } from './reply.ts';

export type Asked = Readonly<Record<string, JsonObject>>;

export interface AskedOutcome {
  readonly kind: 'asked';
  readonly requests: Asked;
  readonly state: string | undefined;
}

type OutcomeParts =
  | AskedOutcome
  | { readonly kind: 'completed'; readonly result: JsonObject }
  | { readonly kind: 'tool-error'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** An HTTP answer of 4xx without a JSON-RPC error, such as `413`. */
  | { readonly kind: 'rejected'; readonly status: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly late: boolean };

export type ReplyOutcome = OutcomeParts & Described;

/** In a text, an outcome reads as people describe it: `the call came to ${outcome}`. */
class Described {
  toString(this: ReplyOutcome) {
    switch (this.kind) {
      case 'asked': {
        const asked = Object.entries(this.requests).map(([key, request]) =>
          request.keyless ? askedText(request) : `${key}: ${askedText(request)}`,
        );
        return asked.length === 0
          ? 'input_required without questions'
          : shorten(`asked ${asked.join('; ')}`, MAX_ASKED);
      }
      case 'completed':
        return `completed: ${quote(textOf(this.result))}`;
      case 'tool-error':
        return `an isError result: ${quote(textOf(this.result))}`;
      case 'error':
        return `error ${asText(this.error.code)}: ${quote(asText(this.error.message))}`;
      case 'rejected':
        return `HTTP ${this.status}`;
      case 'failed':
        return this.reason;
    }
  }
}

/** HTTP statuses that mean "not now", whatever the request. */
export const NOT_NOW: readonly number[] = [408, 425, 429, 502, 503, 504];

/** The outcome of a reply. A result without a `resultType` counts as complete, as it does for clients. */
export const outcomeOf = (reply: ServerReply): ReplyOutcome => Object.assign(new Described(), read(reply));

function read({ result, error, status = 200, failure, late }: ServerReply): OutcomeParts {
  if (NOT_NOW.includes(status)) return { kind: 'failed', reason: `HTTP ${status}`, late: false };
  if (error) return { kind: 'error', error };
  if (!result) {
    const reason = failure ?? 'no answer';
    if (status >= 400 && status < 500) return { kind: 'rejected', status, reason };
    return { kind: 'failed', reason, late: late ?? false };
  }
  if (result.resultType === 'input_required') {
    const isRequest = (value: unknown) => (isObject(value) ? value : undefined);
    const requests = mapMembers(objectAt(result, 'inputRequests'), isRequest) as Asked;
    const state = typeof result.requestState === 'string' ? result.requestState : undefined;
    return { kind: 'asked', requests, state };
  }
  return { kind: result.isError === true ? 'tool-error' : 'completed', result };
}

export const saysNo = ({ kind }: ReplyOutcome) =>
  kind === 'error' || kind === 'tool-error' || kind === 'rejected';

/** The outcome as text, for comparison. Leaves out state, which is always new, and members of one era only. */
export function comparable(outcome: ReplyOutcome) {
  switch (outcome.kind) {
    case 'asked':
      return `asked ${canonical(outcome.requests)}`;
    case 'completed':
    case 'tool-error': {
      const { _meta, resultType, ttlMs, cacheScope, ...result } = outcome.result;
      return `${outcome.kind} ${canonical(result)}`;
    }
    case 'error':
      return `error ${asText(outcome.error.code)} ${asText(outcome.error.message)}`;
    default:
      return `${outcome.kind} ${outcome.reason}`;
  }
}

/** Questions as text, for comparison, without their keys. For servers with new keys in each call. */
export const comparableQuestions = (requests: Asked) => `asked ${canonical(Object.values(requests))}`;

/** The first text of a result. A server may show the answers after it. */
export const openingOf = (outcome: ReplyOutcome) =>
  outcome.kind === 'completed' ? asText(asObject(asList(outcome.result.content)[0]).text) : '';

export function textOf(result: JsonObject) {
  const blocks = [result.content, result.contents, result.messages].flatMap(asList);
  const texts = blocks.map((block) => {
    const { content, text } = asObject(block);
    const inner = isObject(content) ? content.text : text;
    return typeof inner === 'string' ? inner : '';
  });
  const text = texts.filter((one) => one !== '').join('\n');
  return text === '' && isObject(result.structuredContent) ? canonical(result.structuredContent) : text;
}

const askedText = (request: JsonObject) => {
  const { message } = objectAt(request, 'params');
  return typeof message === 'string' ? quote(message) : asText(request.method);
};

/** Names a question in a sentence: by its key, or by its words if a server of 2025-11-25 asked, and the key is ours. */
export const nameOfQuestion = (key: string, request: JsonObject) =>
  request.keyless ? `the question ${askedText(request)}` : `'${key}'`;

const MAX_ASKED = 1000;
const MAX_QUOTED = 160;
const quote = (text: string) => `"${shorten(text, MAX_QUOTED)}"`;
