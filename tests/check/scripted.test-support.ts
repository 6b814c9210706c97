/** A correct server in this process, of a given design. A test can alter each of its answers. */
import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Inputs, run } from '@mrtr/check';
import { probeOf } from './bare.test-support.ts';
import { type Answers, cached, DISCOVERED, type Posted, serving, textResult } from './posted.test-support.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Sent {
  readonly id: number;
  readonly method: string;
  readonly params: {
    readonly name?: string;
    readonly arguments?: Json;
    readonly requestState?: unknown;
    readonly inputResponses?: Readonly<Record<string, { readonly action?: string; readonly content?: Json }>>;
    readonly capabilities: Json;
  };
  readonly principal: string;
  readonly instance: number;
}

export type Answer =
  | { readonly result: Json; readonly status?: number }
  | { readonly error: Json; readonly status?: number }
  | {
      readonly text: string;
      readonly status?: number;
      readonly stream?: boolean;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | 'silence'
  | 'hang-up';

/** Writes and reads state. `open` throws or returns nothing for foreign state. */
export interface Codec {
  readonly seal: (state: State) => string;
  readonly open: (token: string) => State | undefined;
}

/** The options of the server. Some make it faulty. */
export interface Design {
  readonly stages?: readonly (readonly string[])[];
  readonly codec?: () => Codec;
  readonly keyOf?: (key: string) => string;
  readonly done?: string;
  /** The single use: of the call, or only of the text of its last state. */
  readonly usedBy?: 'text';
  /** Asks the next question even after a refusal. */
  readonly refusals?: 'kept' | 'forgotten';
  /** A missing answer to this question counts as a yes. */
  readonly silent?: string;
  /** An accept whose content does not fit counts as a refusal. */
  readonly lax?: boolean;
}

export class ServerData {
  effects = 0;
  readonly states = new Map<string, State>();
  readonly used = new Set<string>();
  readonly design: Design;
  readonly codec: Codec;

  constructor(design: Design) {
    this.design = design;
    this.codec = design.codec?.() ?? handles(this.states);
  }
}

/** State that the server keeps under a random handle. */
export const handles = (states: Map<string, State>, { once = false } = {}): Codec => ({
  seal(state) {
    const token = randomUUID();
    states.set(token, state);
    return token;
  },
  open(token) {
    const state = states.get(token);
    if (once) states.delete(token);
    return state;
  },
});

export interface State {
  readonly id: string;
  readonly stage: number;
  readonly answers: Json;
  readonly about: string;
  readonly tries: number;
  /** The keys under which the open questions were asked. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly refused?: boolean;
}

type Honest = (other?: Sent) => Answer;

export type Twist = (sent: Sent, honest: Honest, world: ServerData) => Answer;

const STAGES: readonly (readonly string[])[] = [['account'], ['sure', 'memo']];
const FIELDS: Readonly<Record<string, Json>> = {
  account: { type: 'string', enum: ['checking', 'savings'] },
  sure: { type: 'boolean' },
  memo: { type: 'string', minLength: 1, maxLength: 40 },
  note: { type: 'string', maxLength: 20 },
};
const isOptional = (key: string): boolean => key === 'note';

export const formOf = (key: string, message = `What is ${key}?`): Json => {
  const required = isOptional(key) ? [] : ['value'];
  const requestedSchema = { type: 'object', properties: { value: FIELDS[key] ?? {} }, required };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
};

export const says = (text: string): Answer => ({ result: textResult(text) });

export const lists = (...tools: readonly Json[]): Answer => ({ result: cached({ tools }) });

export const refuses = (code: number, data?: Json, status?: number): Answer => ({
  error: { code, message: 'No.', ...(data && { data }) },
  ...(status !== undefined && { status }),
});

const openIn = ({ stages = STAGES }: Design, { stage, answers }: State): readonly string[] =>
  (stages[stage] as readonly string[]).filter((key) => !(key in answers));

export function asks({ design, codec }: ServerData, state: State): Answer {
  const { keyOf = (key) => key } = design;
  const keys = Object.fromEntries(openIn(design, state).map((key) => [key, keyOf(key)]));
  const inputRequests = Object.fromEntries(Object.entries(keys).map(([key, now]) => [now, formOf(key)]));
  const requestState = codec.seal({ ...state, keys });
  return { result: { resultType: 'input_required', inputRequests, requestState } };
}

const fits = (key: string, value: unknown): boolean => {
  if (key === 'sure') return typeof value === 'boolean';
  if (key === 'account') return value === 'checking' || value === 'savings';
  if (key === 'note') return value === undefined || (typeof value === 'string' && value.length <= 20);
  return typeof value === 'string' && value.length >= 1 && value.length <= 40;
};

/** The request that a state is bound to. */
export const bindingOf = (...call: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(call)).digest('base64url');

const INVALID = refuses(-32602);

function openState(token: unknown, { codec, design }: ServerData): State | undefined {
  try {
    const state = typeof token === 'string' ? codec.open(token) : undefined;
    // This throws if the state has the wrong shape.
    return state && openIn(design, state) && state;
  } catch {
    return undefined;
  }
}

function called(sent: Sent, world: ServerData): Answer {
  const { params } = sent;
  const { requestState, inputResponses = {}, capabilities } = params;
  const elicitation = capabilities.elicitation as Json | undefined;
  const forms = elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
  if (!forms) return refuses(-32021, { requiredCapabilities: { elicitation: { form: {} } } }, 400);
  const about = bindingOf(params.name, params.arguments, sent.principal);
  if (requestState === undefined)
    return asks(world, { id: randomUUID().slice(-12), stage: 0, answers: {}, about, tries: 0 });
  const state = openState(requestState, world);
  if (state?.about !== about) return INVALID;
  const approval = world.design.usedBy === 'text' ? String(requestState) : state.id;
  if (world.used.has(approval)) return INVALID;
  return proceeds(state, inputResponses, world, (words) => {
    world.used.add(approval);
    return says(words);
  });
}

const DECLINED = 'Nothing was sent.';

type Responses = NonNullable<Sent['params']['inputResponses']>;

/** The answer to a question: its value, a refusal, or missing. */
function read(key: string, { keys = {} }: State, responses: Responses, { silent, lax }: Design) {
  const { action, content } = responses[keys[key] ?? ''] ?? {};
  const value = content?.value;
  if (action === undefined) return isOptional(key) || silent === key ? { value } : 'missing';
  if (action === 'decline' || action === 'cancel') return isOptional(key) ? { value } : 'refused';
  if (action === 'accept' && fits(key, value)) return key === 'sure' && !value ? 'refused' : { value };
  return lax ? 'refused' : 'missing';
}

function proceeds(
  state: State,
  responses: Responses,
  world: ServerData,
  ends: (words: string) => Answer,
): Answer {
  const { design } = world;
  const { stages = STAGES, refusals, done } = design;
  const isLast = state.stage + 1 === stages.length;
  const answers: Record<string, unknown> = { ...state.answers };
  let { refused = false } = state;
  for (const key of openIn(design, state)) {
    const answer = read(key, state, responses, design);
    if (answer === 'refused' && (refusals === undefined || isLast)) return ends(DECLINED);
    if (answer === 'refused' && refusals === 'kept') refused = true;
    if (answer !== 'missing') answers[key] = typeof answer === 'object' ? (answer.value ?? null) : null;
  }
  const now = { ...state, answers, ...(refused && { refused }) };
  if (openIn(design, now).length > 0)
    return now.tries >= 2 ? INVALID : asks(world, { ...now, tries: now.tries + 1 });
  if (!isLast) return asks(world, { ...now, stage: now.stage + 1 });
  if (refused) return ends(DECLINED);
  world.effects++;
  return ends(done ?? `Sent from ${answers.account}: ${answers.memo}.`);
}

/** The number of calls that wait for an answer. This server keeps them in memory. */
const openCalls = ({ states, used }: ServerData): number =>
  new Set([...states.values()].map(({ id }) => id).filter((id) => !used.has(id))).size;

const INPUT = { type: 'object', properties: { to: { enum: ['bob', 'carol'] } }, required: ['to'] };

function honestly(sent: Sent, world: ServerData): Answer {
  switch (sent.method) {
    case 'server/discover':
      return { result: DISCOVERED };
    case 'tools/list':
      return lists(...['send', 'refund', 'count', 'open'].map((name) => ({ name, inputSchema: INPUT })));
    case 'tools/call':
      if (sent.params.name === 'count') return says(String(world.effects));
      return sent.params.name === 'open' ? says(String(openCalls(world))) : called(sent, world);
    default:
      return refuses(-32601, undefined, 404);
  }
}

function sentFrom({ id, method, params = {}, headers }: Posted, instance: number): Sent {
  const meta = (params._meta ?? {}) as Json;
  const capabilities = (meta['io.modelcontextprotocol/clientCapabilities'] ?? {}) as Json;
  const principal = headers.authorization ?? 'nobody';
  return { id, method, params: { ...params, capabilities }, principal, instance };
}

function reply(answer: Answer, id: number, res: ServerResponse): void {
  if (answer === 'silence') return;
  if (answer === 'hang-up') return void res.socket?.destroy();
  const { status = 200, ...message } = answer;
  const { stream = false, headers = {} } = 'text' in answer ? answer : {};
  const type = stream ? 'text/event-stream' : 'application/json';
  const text = 'text' in answer ? answer.text : JSON.stringify({ jsonrpc: '2.0', id, ...message });
  res.writeHead(status, { 'content-type': type, ...headers }).end(text);
}

export function serveTwisted<T>(
  twist: Twist,
  use: (addresses: { readonly url: string; readonly also: string }) => Promise<T>,
  design: Design = {},
): Promise<T> {
  const world = new ServerData(design);
  const answers =
    (instance: number): Answers =>
    (posted, res) => {
      const sent = sentFrom(posted, instance);
      const answer = twist(sent, (other = sent) => honestly(other, world), world);
      reply(answer, sent.id, res);
      return undefined;
    };
  return serving(answers(0), (url) => serving(answers(1), (also) => use({ url, also })));
}

const PRINCIPALS = { headers: { authorization: 'alice' }, otherHeaders: { authorization: 'mallory' } };

export const untwisted: Twist = (_sent, honest) => honest();

export const checkTwisted = (
  twist: Twist,
  only: readonly string[] | undefined,
  inputs: Partial<Inputs> = {},
  design: Design = {},
) =>
  serveTwisted(
    twist,
    (addresses) =>
      run({
        address: { ...addresses, ...PRINCIPALS },
        operation: { kind: 'tool', name: 'send', arguments: { to: 'bob' } },
        answers: { account: 'checking', sure: true, memo: 'lunch' },
        probe: probeOf('count'),
        oneTime: true,
        allowEffects: true,
        timeoutSeconds: 10,
        only,
        ...inputs,
      }),
    design,
  );
