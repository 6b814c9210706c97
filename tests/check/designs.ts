/**
 * Correct but unusual servers. They differ in details that may confuse a checker, such as the place of state, and the
 * form of keys, questions and results.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Answer, Codec, Design, Twist } from './scripted.test-support.ts';
import { handles, refuses, says } from './scripted.test-support.ts';
import { insteadOfRefusal, isCall, isRetry, streaming, when } from './ways/ways.test-support.ts';

const KEY = randomBytes(32);
const mac = (body: string) => createHmac('sha256', KEY).update(body).digest('base64url');
function verify(body: string, signature = ''): void {
  const [given, expected] = [Buffer.from(signature), Buffer.from(mac(body))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Error('Not ours.');
}

/** State that is signed, and compressed so that nothing is readable. Equal states have equal texts. */
const signed = (): Codec => ({
  seal(state) {
    const body = gzipSync(JSON.stringify(state)).toString('base64url');
    return `${body}~${mac(body)}`;
  },
  open(token) {
    const [body = '', signature, more] = token.split('~');
    verify(body, signature);
    return more === undefined ? JSON.parse(gunzipSync(Buffer.from(body, 'base64url')).toString()) : undefined;
  },
});

/** State as the SDK makes it: the expiry is in whole seconds, and nothing is random. */
const timed = (): Codec => {
  const { seal, open } = signed();
  const withTime = (state: object) => ({ ...state, expires: Math.floor(Date.now() / 1000) + 300 });
  return { seal: (state) => seal(withTime(state) as never), open };
};

/** State whose signature has several spellings, because the server compares its bytes. */
const lenient = (): Codec => {
  const { seal, open } = signed();
  const respell = (signature = '') => Buffer.from(signature, 'base64url').toString('base64url');
  return {
    seal,
    open(token) {
      const [body, signature] = token.trim().split('~');
      return open(`${body}~${respell(signature)}`);
    },
  };
};

/** State that is sealed, except the name of the step. */
const stepInPlain = (): Codec => {
  const { seal, open } = signed();
  const names = ['which', 'whether'];
  return {
    seal: ({ stage, ...rest }) => JSON.stringify({ step: names[stage], rest: seal(rest as never) }),
    open(token) {
      const { step, rest } = JSON.parse(token);
      const state = open(rest);
      return names.includes(step) && state ? { ...state, stage: names.indexOf(step) } : undefined;
    },
  };
};

const jwt = (): Codec => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  return {
    seal(state) {
      const body = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(state)}`;
      return `${body}.${mac(body)}`;
    },
    open(token) {
      const [header, body = '', signature, more] = token.split('.');
      verify(`${header}.${body}`, signature);
      return more === undefined ? JSON.parse(Buffer.from(body, 'base64url').toString()) : undefined;
    },
  };
};

const newKeys = (key: string) => `${key}-${randomBytes(6).toString('base64url')}`;
const oneKey = () => 'answer';

let number = 0;
/** Replaces words in every answer of the server. */
const reworded = (words: string | RegExp, other: (found: string, instance: number) => string): Twist =>
  when(isCall, ({ instance }, honest) =>
    JSON.parse(JSON.stringify(honest()).replace(words, (found) => other(found, instance))),
  );
const DONE = ['Done.', 'It was done, thanks.', 'Okay: all of that is finished now!'];

const streams = (before: object): Twist =>
  when(isCall, (sent, honest, world) => {
    const answer = honest();
    const isResult = typeof answer === 'object' && 'result' in answer;
    return isResult ? streaming(before, answer)(sent, honest, world) : answer;
  });
const NOTIFICATION = {
  id: undefined,
  method: 'notifications/message',
  params: { level: 'info', data: 'working' },
};

const MAX_IN_A_WINDOW = 20;
const WINDOW_MS = 250;
function limiting(): Twist {
  let [room, window] = [MAX_IN_A_WINDOW, 0];
  return (_sent, honest) => {
    const now = Math.floor(performance.now() / WINDOW_MS);
    if (now > window) [room, window] = [MAX_IN_A_WINDOW, now];
    return --room < 0 ? { text: '', status: 429, headers: { 'retry-after': '0' } } : honest();
  };
}

const counting = (text: (count: number) => string): Twist =>
  when(
    ({ params }) => params.name === 'count',
    (_sent, _honest, world) => says(text(world.effects)),
  );
/** A probe that shows three of four effects only at its second reading. */
function late(): Twist {
  let [shown, seen] = [0, 0];
  return counting((count) => {
    if (count !== seen && count % 4 === 1) shown = count;
    const now = shown;
    [shown, seen] = [count, count];
    return String(now);
  });
}

const refusedBy = (answer: Answer): Twist => when(isRetry, insteadOfRefusal(answer));
const EXPIRED = 'It has expired. Please start again.';
const inError = { result: { isError: true, ...(says(EXPIRED) as { readonly result: object }).result } };
const SURE = [['sure']];
const APART = [['account'], ['sure']];

/** All designs. Some have the faulty state, ledger, refusals or probe that their name says. */
export const DESIGNS: Readonly<Record<string, Design & { readonly twist?: () => Twist }>> = {
  handles: { codec: () => handles(new Map()) },
  'handles that are good once': { stages: APART, codec: () => handles(new Map(), { once: true }) },
  'a JWT': { codec: jwt },
  'a state that nobody protects': { codec: () => ({ seal: JSON.stringify, open: JSON.parse }) },
  'an open step': { codec: stepInPlain },
  'an open step, and silence is consent': {
    stages: [['sure'], ['account']],
    codec: stepInPlain,
    silent: 'sure',
  },
  'a ledger of texts': { codec: timed, usedBy: 'text' },
  'a ledger of spellings': { stages: SURE, codec: lenient, usedBy: 'text' },
  'new keys': { keyOf: newKeys },
  'results with a number': {
    twist: () => reworded(/Done\.|Nothing was sent\./, (end) => `${end} (number ${++number})`),
  },
  'results in other words': { twist: () => reworded('Done.', () => DONE[number++ % DONE.length] ?? '') },
  'a question with a number': {
    stages: SURE,
    twist: () => reworded('is sure?', (end) => `${end} (question ${++number})`),
  },
  'an optional question alone': { stages: [['note']] },
  'an optional question beside another': { stages: [['sure', 'note']] },
  'an optional question later': { stages: [['sure'], ['note']] },
  'an optional question first': { stages: [['note'], ['sure']] },
  'a refusal that counts at the end': { refusals: 'kept' },
  'a refusal that counts at the end, with new keys': { refusals: 'kept', keyOf: newKeys },
  'a refusal that counts at the end, with one key': { stages: APART, refusals: 'kept', keyOf: oneKey },
  'a refusal that is forgotten': { refusals: 'forgotten' },
  'a refusal that is forgotten, with new keys': { refusals: 'forgotten', keyOf: newKeys },
  'a refusal that is forgotten, with one key': { stages: APART, refusals: 'forgotten', keyOf: oneKey },
  'a result in which every state is rejected': { twist: () => refusedBy(says(EXPIRED)) },
  'an isError result': { twist: () => refusedBy(inError) },
  'HTTP 400': { twist: () => refusedBy(refuses(-32602, undefined, 400)) },
  'a stream with notifications': { twist: () => streams(NOTIFICATION) },
  'a ping': { twist: () => streams({ id: 'p', method: 'ping' }) },
  'a limit of requests in a time': { twist: limiting },
  'a probe with a clock': {
    twist: () => counting((count) => `${count} done, ${Math.floor(performance.now() / 1000)} s up`),
  },
  'a probe that is late': { twist: late },
  'a name of the instance': {
    stages: SURE,
    twist: () => reworded('Done.', (_, instance) => `Done by ${instance}.`),
  },
  'no look at what was filled in': { stages: SURE, lax: true },
};

/** The default design. */
export const DESIGN: Design = { codec: signed, done: 'Done.' };
