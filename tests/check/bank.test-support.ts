/**
 * A small server that pays invoices. It shares nothing with the other servers of these tests, so that a check that fits those
 * alone is seen. A trait makes it faulty, or right and odd.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { type Inputs, run } from '@mrtr/check';
import { probeOf } from './bare.test-support.ts';
import { cached, DISCOVERED, type Posted, resultText, serving, textResult } from './posted.test-support.ts';

type Json = Readonly<Record<string, unknown>>;
interface Given {
  readonly action?: string;
  readonly content?: Json;
}
interface Call {
  readonly tool: string;
  readonly args: Json;
  readonly who: string;
}
interface State {
  readonly id: string;
  readonly call: string;
  readonly who: string;
  readonly until: number;
  readonly step: 'confirm' | 'memo';
  readonly tries: number;
}

/** Each trait replaces one part of the right server. */
export interface Traits {
  /** The number of characters of the signature that are compared. */
  readonly compared?: number;
  /** A signature that this accepts needs no other. */
  readonly trusts?: (signature: string) => boolean;
  readonly call?: (tool: string, args: Json, right: string) => string;
  readonly isSame?: (who: string, own: string) => boolean;
  readonly lasts?: (step: State['step']) => boolean;
  /** The key under which an end is remembered. */
  readonly used?: (id: string, answers: string, tries: number) => string;
  /** The number of ends that it remembers. */
  readonly keeps?: number;
  readonly yes?: (given: Given | undefined) => boolean;
  readonly no?: (given: Given | undefined) => boolean;
  readonly memo?: (given: Given | undefined) => string | undefined;
  readonly find?: (key: string, all: Readonly<Record<string, Given>>) => Given | undefined;
  /** The answer to a state that is not taken. Default: an error. */
  readonly rejects?: (call: Call, reason: string, bank: Bank) => Reply;
  readonly repeats?: 'first result' | 'error';
  readonly key?: (key: string) => string;
  readonly words?: (message: string, again: boolean) => string;
  readonly asksAnyone?: boolean;
  readonly payBeforeMemo?: boolean;
  readonly http?: (who: string) => number | undefined;
}
type Reply = { readonly result: Json } | { readonly error: Json };

const hash = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
/** Quoted JSON in ASCII. */
const shown = (value: unknown): string =>
  JSON.stringify(value).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`);
const NOTHING: Reply = { result: textResult('Nothing was paid.') };
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length < 30;

export class Bank {
  paid = 0;
  #asked = 0;
  readonly #ended = new Map<string, Reply>();
  readonly #traits: Traits;
  readonly #seconds: number;

  constructor(traits: Traits, seconds = 600) {
    this.#traits = traits;
    this.#seconds = seconds;
  }

  call(call: Call, params: Json, capable: boolean): Reply {
    const traits = this.#traits;
    const { tool, args, who } = call;
    if (!capable && !traits.asksAnyone) {
      const data = { requiredCapabilities: { elicitation: { form: {} } } };
      return { error: { code: -32021, message: 'Somebody has to be asked.', data } };
    }
    const right = hash(tool, args);
    const bound = traits.call?.(tool, args, right) ?? right;
    if (params.requestState === undefined) return this.ask(args, this.fresh(bound, who));
    const state = this.#open(params.requestState);
    const isOwn = state && state.call === bound && (traits.isSame?.(who, state.who) ?? who === state.who);
    if (state === undefined || !isOwn) return this.#reject(call, state ? 'it is foreign' : 'it is broken');
    if (state.until < Date.now() && (traits.lasts?.(state.step) ?? true))
      return this.#reject(call, 'it is late');
    return this.#proceed(call, state, (params.inputResponses ?? {}) as Readonly<Record<string, Given>>);
  }

  fresh(call: string, who: string): State {
    return {
      id: randomUUID(),
      call,
      who,
      until: Date.now() + this.#seconds * 1000,
      step: 'confirm',
      tries: 0,
    };
  }

  ask(args: Json, state: State, again = false): Reply {
    const { key = (one) => one, words = (message) => message } = this.#traits;
    const value =
      state.step === 'confirm'
        ? { type: 'string', enum: ['cancel', 'pay'] }
        : { type: 'string', minLength: 1, maxLength: 29 };
    const about = state.step === 'confirm' ? 'Pay invoice' : 'A memo for invoice';
    const message = words(`${about} ${shown(args.invoice)}?`, again);
    const form = { type: 'object', properties: { value }, required: ['value'] };
    const request = {
      method: 'elicitation/create',
      params: { mode: 'form', message, requestedSchema: form },
    };
    const body = Buffer.from(JSON.stringify({ ...state, asked: key(state.step), n: this.#asked++ })).toString(
      'base64url',
    );
    const inputRequests = { [JSON.parse(Buffer.from(body, 'base64url').toString()).asked]: request };
    return {
      result: { resultType: 'input_required', inputRequests, requestState: `${body}.${this.#sign(body)}` },
    };
  }

  #askAgain(args: Json, state: State): Reply {
    if (state.tries > 8) return { error: { code: -32602, message: 'There were too many tries.' } };
    return this.ask(args, { ...state, tries: state.tries + 1 }, true);
  }

  #sign(body: string): string {
    return createHmac('sha256', 'a key').update(body).digest('base64url');
  }

  #open(token: unknown): (State & { readonly asked: string }) | undefined {
    const { compared = 64, trusts = () => false } = this.#traits;
    const [body = '', signature = '', more] = String(token).split('.');
    const isOurs = signature.slice(0, compared) === this.#sign(body).slice(0, compared);
    const isExact = compared < 64 || signature.length === this.#sign(body).length;
    if (typeof token !== 'string' || more !== undefined) return undefined;
    if (!(isOurs && isExact) && !trusts(signature)) return undefined;
    try {
      return JSON.parse(Buffer.from(body, 'base64url').toString());
    } catch {
      return undefined;
    }
  }

  #reject(call: Call, reason: string): Reply {
    const error = { code: -32602, message: 'This call cannot go on.' };
    return this.#traits.rejects?.(call, reason, this) ?? { error };
  }

  #proceed(
    call: Call,
    state: State & { readonly asked: string },
    all: Readonly<Record<string, Given>>,
  ): Reply {
    const traits = this.#traits;
    const { args } = call;
    const given = traits.find ? traits.find(state.asked, all) : all[state.asked];
    const end = traits.used?.(state.id, JSON.stringify(all), state.tries) ?? state.id;
    const before = this.#ended.get(end);
    if (before) return traits.repeats === 'first result' ? before : this.#reject(call, 'it is broken');
    const isNo = (one: Given | undefined) =>
      one?.action === 'decline' || one?.action === 'cancel' || one?.content?.value === 'cancel';
    if (traits.no ? traits.no(given) : isNo(given)) return NOTHING;
    if (state.step === 'confirm') {
      const isYes = traits.yes?.(given) ?? (given?.action === 'accept' && given.content?.value === 'pay');
      if (!isYes) return this.#askAgain(args, state);
      if (traits.payBeforeMemo) this.paid++;
      return this.ask(args, { ...state, step: 'memo' });
    }
    const memo = traits.memo
      ? traits.memo(given)
      : given?.action === 'accept' && isText(given.content?.value)
        ? given.content.value
        : undefined;
    if (memo === undefined) return this.#askAgain(args, state);
    if (!traits.payBeforeMemo) this.paid++;
    const done: Reply = { result: textResult(`Paid: ${memo}.`) };
    this.#ended.set(end, done);
    const [oldest = ''] = this.#ended.keys();
    if (this.#ended.size > (traits.keeps ?? Infinity)) this.#ended.delete(oldest);
    return done;
  }

  answer({ method, params = {}, headers }: Posted): Reply {
    const invoice = { type: 'string', minLength: 1 };
    const amount = { type: 'integer', minimum: 1 };
    const inputSchema = { type: 'object', properties: { invoice, amount }, required: ['invoice'] };
    const { name, arguments: args = {}, _meta } = params as Json & { _meta?: Json };
    if (method === 'server/discover') return { result: DISCOVERED };
    if (method === 'tools/list')
      return {
        result: cached({ tools: ['pay', 'repay', 'count'].map((one) => ({ name: one, inputSchema })) }),
      };
    if (method !== 'tools/call') return { error: { code: -32601, message: 'There is no such method.' } };
    if (name === 'count') return { result: textResult(String(this.paid)) };
    const { elicitation } = (_meta?.['io.modelcontextprotocol/clientCapabilities'] ?? {}) as Json;
    const isCapable =
      typeof elicitation === 'object' &&
      (!('url' in (elicitation as Json)) || 'form' in (elicitation as Json));
    const who = headers.authorization ?? 'nobody';
    return this.call({ tool: String(name), args: args as Json, who }, params, isCapable);
  }
}

export const checkBank = (traits: Traits, only: readonly string[], inputs: Partial<Inputs> = {}) => {
  const bank = new Bank(traits, inputs.ttlSeconds);
  const answers = (posted: Posted, res: { writeHead(status: number): { end(text: string): void } }) => {
    const reply = bank.answer(posted);
    const refused = traits.http?.(posted.headers.authorization ?? 'nobody');
    const code = 'error' in reply ? reply.error.code : undefined;
    const status = refused ?? (code === -32601 ? 404 : code === -32021 ? 400 : undefined);
    const text =
      'result' in reply
        ? resultText(posted.id, reply.result)
        : JSON.stringify({ jsonrpc: '2.0', id: posted.id, ...reply });
    if (status === undefined) return text;
    res.writeHead(status).end(refused === undefined ? text : '<p>No.</p>');
    return undefined;
  };
  return serving(answers as never, (url) =>
    run({
      address: { url, headers: { authorization: 'ada' }, otherHeaders: { authorization: 'bob' } },
      operation: { kind: 'tool', name: 'pay', arguments: { invoice: 'a-1' } },
      otherOperation: { kind: 'tool', name: 'repay', arguments: {} },
      answers: { confirm: 'pay', memo: 'rent', '*': 'pay' },
      probe: probeOf('count'),
      oneTime: true,
      needsConsent: true,
      allowEffects: true,
      timeoutSeconds: 10,
      only,
      ...inputs,
    }),
  );
};
export { hash };
