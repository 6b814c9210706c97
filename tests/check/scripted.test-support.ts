/** A right server in this process whose every answer a test can twist: for faults that come in several ways. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type RunInputs, run } from '@mrtr/check';
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
  | { readonly text: string; readonly status?: number; readonly stream?: boolean }
  | 'silence'
  | 'hang-up';

export class World {
  effects = 0;
  readonly states = new Map<string, State>();
}

export interface State {
  readonly call: { used?: { readonly answers: string; readonly answer: Answer } };
  readonly stage: number;
  readonly answers: Json;
  readonly about: string;
  readonly tries: number;
}

type Honest = (other?: Sent) => Answer;

export type Twist = (sent: Sent, honest: Honest, world: World) => Answer;

const STAGES: readonly (readonly string[])[] = [['account'], ['sure', 'memo']];
const FIELDS: Readonly<Record<string, Json>> = {
  account: { type: 'string', enum: ['checking', 'savings'] },
  sure: { type: 'boolean' },
  memo: { type: 'string', minLength: 1, maxLength: 40 },
};

export const formOf = (key: string, message = `What is ${key}?`): Json => {
  const requestedSchema = { type: 'object', properties: { value: FIELDS[key] ?? {} }, required: ['value'] };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
};

export const says = (text: string): Answer => ({ result: textResult(text) });

export const lists = (...tools: readonly Json[]): Answer => ({ result: cached({ tools }) });

export const refuses = (code: number, data?: Json, status?: number): Answer => ({
  error: { code, message: 'No.', ...(data && { data }) },
  ...(status !== undefined && { status }),
});

export function asks(world: World, state: State): Answer {
  const token = randomUUID();
  world.states.set(token, state);
  const keys = (STAGES[state.stage] ?? []).filter((key) => !(key in state.answers));
  const inputRequests = Object.fromEntries(keys.map((key) => [key, formOf(key)]));
  return { result: { resultType: 'input_required', inputRequests, requestState: token } };
}

const fits = (key: string, value: unknown): boolean => {
  if (key === 'sure') return typeof value === 'boolean';
  if (key === 'account') return value === 'checking' || value === 'savings';
  return typeof value === 'string' && value.length >= 1 && value.length <= 40;
};

const INVALID = refuses(-32602);

function called(sent: Sent, world: World): Answer {
  const { params } = sent;
  const { requestState, inputResponses = {}, capabilities } = params;
  const elicitation = capabilities.elicitation as Json | undefined;
  const forms = elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
  if (!forms) return refuses(-32021, { requiredCapabilities: { elicitation: { form: {} } } }, 400);
  const about = JSON.stringify([params.name, params.arguments, sent.principal]);
  if (requestState === undefined) return asks(world, { call: {}, stage: 0, answers: {}, about, tries: 0 });
  const state = world.states.get(String(requestState));
  if (state === undefined || typeof requestState !== 'string' || state.about !== about) return INVALID;
  const { used } = state.call;
  if (used) return used.answers === JSON.stringify(inputResponses) ? used.answer : INVALID;
  return proceeds(state, inputResponses, world);
}

function proceeds(state: State, responses: NonNullable<Sent['params']['inputResponses']>, world: World) {
  const ends = (answer: Answer): Answer => {
    state.call.used = { answers: JSON.stringify(responses), answer };
    return answer;
  };
  const answers: Record<string, unknown> = { ...state.answers };
  for (const key of STAGES[state.stage] ?? []) {
    const { action, content } = responses[key] ?? {};
    if (action === 'decline' || action === 'cancel') return ends(says('Nothing was sent.'));
    if (action === 'accept' && fits(key, content?.value)) answers[key] = content?.value;
  }
  const open = (STAGES[state.stage] ?? []).some((key) => !(key in answers));
  if (open && state.tries >= 10) return INVALID;
  if (open) return asks(world, { ...state, answers, tries: state.tries + 1 });
  if (state.stage === 0) return asks(world, { ...state, answers, stage: 1 });
  world.effects++;
  return ends(says(`Sent from ${answers.account}: ${answers.memo}.`));
}

/** Calls that wait for an answer: this server keeps them in its memory. */
const openCalls = ({ states }: World): number =>
  new Set([...states.values()].map(({ call }) => call).filter(({ used }) => used === undefined)).size;

const INPUT = { type: 'object', properties: { to: { enum: ['bob', 'carol'] } }, required: ['to'] };

function honestly(sent: Sent, world: World): Answer {
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
  const type = 'stream' in answer && answer.stream ? 'text/event-stream' : 'application/json';
  const text = 'text' in answer ? answer.text : JSON.stringify({ jsonrpc: '2.0', id, ...message });
  res.writeHead(status, { 'content-type': type }).end(text);
}

export function serveTwisted<T>(
  twist: Twist,
  use: (addresses: { readonly url: string; readonly also: string }) => Promise<T>,
): Promise<T> {
  const world = new World();
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

export const PRINCIPALS = { headers: { authorization: 'alice' }, otherHeaders: { authorization: 'mallory' } };

export const untwisted: Twist = (_sent, honest) => honest();

export const checkTwisted = (twist: Twist, only: readonly string[], inputs: Partial<RunInputs> = {}) =>
  serveTwisted(twist, (addresses) =>
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
  );
