/**
 * Servers on the bare protocol, each right in a way of its own, or with something odd about it. They are
 * unlike `bare.mjs` in what a checker could stumble over: where state lies, what keys, questions and results look like.
 *
 *   await serving(answersOf(DESIGNS['new keys']), use);
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';

const REVISION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const CACHED = { ttlMs: 0, cacheScope: 'private' };
const KEY = randomBytes(32);

class Refused extends Error {
  constructor(code, message, { data, status = 200 } = {}) {
    super(message);
    Object.assign(this, { code, data, status });
  }
}
const invalid = () => new Refused(-32602, 'The state is not valid.');
const text = (words) => ({ resultType: 'complete', content: [{ type: 'text', text: words }] });

// ---------------------------------------------------------------------------------------------- state

const mac = (body) => createHmac('sha256', KEY).update(body).digest('base64url');
function verify(body, signature) {
  const [given, expected] = [Buffer.from(signature), Buffer.from(mac(body))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid();
}

/** Compressed, so that nothing in it is readable, and signed. The same state is the same text. */
const signed = () => ({
  seal(state) {
    const body = gzipSync(JSON.stringify(state)).toString('base64url');
    return `${body}~${mac(body)}`;
  },
  open(token) {
    const [body, signature = '', more] = token.split('~');
    if (more !== undefined) throw invalid();
    verify(body, signature);
    return JSON.parse(gunzipSync(Buffer.from(body, 'base64url')).toString());
  },
});

/** As that of the SDK: the time of expiry in whole seconds, and nothing that differs from state to state. */
const timed = () => {
  const { seal, open } = signed();
  return {
    seal: (state) => seal({ ...state, expires: Math.floor(Date.now() / 1000) + 300 }),
    open(token) {
      const { expires, ...state } = open(token);
      if (expires * 1000 < Date.now()) throw invalid();
      return state;
    },
  };
};

/** Its signature may be spelled otherwise: what is compared is its bytes. */
const lenient = () => {
  const { seal, open } = signed();
  return {
    seal,
    open(token) {
      const [body, signature = ''] = token.trim().split('~');
      return open(`${body}~${Buffer.from(signature, 'base64url').toString('base64url')}`);
    },
  };
};

/** Sealed but for the name of the step. */
const stepInPlain = () => {
  const { seal, open } = signed();
  const names = ['which', 'whether'];
  return {
    seal: ({ step, ...rest }) => JSON.stringify({ step: names[step], rest: seal(rest) }),
    open(token) {
      const { step, rest } = JSON.parse(token);
      if (!names.includes(step)) throw invalid();
      return { ...open(rest), step: names.indexOf(step) };
    },
  };
};

/** As it is: anybody can read it, and write it. */
const plain = () => ({
  seal: (state) => JSON.stringify(state),
  open: (token) => JSON.parse(token),
});

const jwt = () => ({
  seal(state) {
    const parts = [{ alg: 'HS256', typ: 'JWT' }, state];
    const body = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${body}.${mac(body)}`;
  },
  open(token) {
    const [header, body, signature, more] = token.split('.');
    if (signature === undefined || more !== undefined) throw invalid();
    verify(`${header}.${body}`, signature);
    return JSON.parse(Buffer.from(body, 'base64url').toString());
  },
});

/** What the server keeps, under a name that means nothing. */
function handles({ once: singleUse = false } = {}) {
  const kept = new Map();
  return {
    seal(state) {
      const handle = randomBytes(16).toString('base64url');
      kept.set(handle, structuredClone(state));
      return handle;
    },
    open(handle) {
      if (!kept.has(handle)) throw invalid();
      const state = structuredClone(kept.get(handle));
      if (singleUse) kept.delete(handle);
      return state;
    },
  };
}

// ---------------------------------------------------------------------------------------------- questions

const CITY = { key: 'city', message: 'City?', fields: { city: { type: 'string', enum: ['Rome', 'Oslo'] } } };
const SURE = { key: 'sure', message: 'Really?', fields: { sure: { type: 'boolean' } } };
const TEXT = { type: 'string', maxLength: 20 };
const NOTE = { key: 'note', message: 'A note?', fields: { note: TEXT }, optional: true };

const FITS = {
  city: ({ city }) => ['Rome', 'Oslo'].includes(city),
  sure: ({ sure }) => typeof sure === 'boolean',
  note: ({ note }) => note === undefined || (typeof note === 'string' && note.length <= 20),
};

const form = ({ message, fields, optional }) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: typeof message === 'function' ? message() : message,
    requestedSchema: { type: 'object', properties: fields, required: optional ? [] : Object.keys(fields) },
  },
});

// ---------------------------------------------------------------------------------------------- designs

const newKeys = (key) => `${key}-${randomBytes(6).toString('base64url')}`;
const oneKey = () => 'answer';
let number = 0;
const numbered = (words) => () => text(`${words} (number ${++number}).`);
const DONE = ['Done.', 'It was done, thanks.', 'Okay: all of that is finished now!'];

/** Each is right but for its state, ledger or refusals where the name says so, or has a useless probe. */
export const DESIGNS = {
  handles: { state: handles },
  'handles that are good once': { state: () => handles({ once: true }) },
  'a JWT': { state: jwt },
  'a state that nobody protects': { state: plain },
  'an open step': { state: stepInPlain },
  'an open step, and silence is consent': {
    steps: [[SURE], [CITY]],
    state: stepInPlain,
    silent: 'sure',
  },
  'a ledger of texts': { state: timed, usedBy: 'text' },
  'a ledger of spellings': { steps: [[SURE]], state: lenient, usedBy: 'text' },
  'new keys': { keyOf: newKeys },
  'results with a number': { done: numbered('Booked'), declined: numbered('Not booked') },
  'results in other words': { done: () => text(DONE[number++ % DONE.length]) },
  'a question with a number': { steps: [[{ ...SURE, message: () => `Really? (question ${++number})` }]] },
  'an optional question alone': { steps: [[NOTE]] },
  'an optional question beside another': { steps: [[SURE, NOTE]] },
  'an optional question later': { steps: [[SURE], [NOTE]] },
  'an optional question first': { steps: [[NOTE], [SURE]] },
  'a refusal that counts at the end': { refusals: 'kept' },
  'a refusal that counts at the end, with new keys': { refusals: 'kept', keyOf: newKeys },
  'a refusal that counts at the end, with one key': { refusals: 'kept', keyOf: oneKey },
  'a refusal that is forgotten': { refusals: 'forgotten' },
  'a refusal that is forgotten, with new keys': { refusals: 'forgotten', keyOf: newKeys },
  'a refusal that is forgotten, with one key': { refusals: 'forgotten', keyOf: oneKey },
  'a result in which every state is refused': { refused: () => text('It has expired. Please start again.') },
  'an isError result': { refused: () => ({ ...text('Please start again.'), isError: true }) },
  'HTTP 400': {
    refused: () => {
      throw new Refused(-32602, 'The state is not valid.', { status: 400 });
    },
  },
  'a stream with notifications': { streams: true },
  'a ping': { streams: true, pings: true },
  'a limit of requests in a time': { limits: true },
  'a probe with a clock': { count: (count) => `${count} done, ${Math.floor(performance.now() / 1000)} s up` },
  'a probe that is late': { late: true },
  'a name of the instance': { steps: [[SURE]], named: true },
  'no look at what was filled in': { steps: [[SURE]], lax: true },
};

// ---------------------------------------------------------------------------------------------- the call

const digest = (value) => createHash('sha256').update(JSON.stringify(value)).digest('base64url');

/** One design, what it keeps, and a world that several servers may share: the bookings, and the used approvals. */
const partsOf = (design, world = { count: 0, shown: 0, used: new Set() }) => ({
  steps: [[CITY], [SURE]],
  keyOf: (key) => key,
  done: () => text('Done.'),
  declined: () => text('Nothing was done.'),
  ...design,
  codec: (design.state ?? signed)(),
  instance: randomBytes(4).toString('hex'),
  world,
});

const openIn = ({ steps }, { step, answered }) => steps[step].filter(({ key }) => !answered.includes(key));

function ask(parts, state) {
  const open = openIn(parts, state);
  const keys = Object.fromEntries(open.map(({ key }) => [parts.keyOf(key), key]));
  const questions = Object.entries(keys).map(([key, own]) => [key, form(open.find((it) => it.key === own))]);
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(questions),
    requestState: parts.codec.seal({ ...state, keys }),
  };
}

/** What is used up with an approval: its call, or the text of its state alone. */
const approvalOf = ({ usedBy }, { id }, text) => (usedBy === 'text' ? text : id);

function opened(parts, { requestState }, bound) {
  if (typeof requestState !== 'string') throw invalid();
  const state = parts.codec.open(requestState);
  if (state.bound !== bound || parts.world.used.has(approvalOf(parts, state, requestState))) throw invalid();
  return state;
}

function read({ lax, silent }, { key, optional }, state, responses) {
  const [asked] = Object.entries(state.keys).find(([, own]) => own === key) ?? [];
  const answer = asked !== undefined && Object.hasOwn(responses, asked) ? responses[asked] : undefined;
  if (answer === undefined || answer === null) return optional || silent === key ? 'answered' : 'open';
  if (answer.action !== 'accept') return optional ? 'answered' : 'declined';
  const { content } = answer;
  if (typeof content === 'object' && content !== null && FITS[key](content))
    return key === 'sure' && !content.sure ? 'declined' : 'answered';
  if (lax) return 'declined';
  return optional && content === undefined ? 'answered' : 'open';
}

async function call(parts, { method, params }, principal) {
  const bound = digest([method, params.name ?? params.uri, params.arguments ?? {}, principal]);
  if (params.requestState === undefined)
    return ask(parts, { id: randomBytes(12).toString('base64url'), bound, step: 0, tries: 0, answered: [] });
  let state;
  try {
    state = opened(parts, params, bound);
  } catch (error) {
    if (parts.refused) return parts.refused();
    throw error instanceof Refused ? error : invalid();
  }
  for (const question of openIn(parts, state)) {
    const answer = read(parts, question, state, params.inputResponses ?? {});
    // Either asks its next question all the same.
    if (answer === 'declined' && (!parts.refusals || state.step + 1 === parts.steps.length))
      return parts.declined();
    if (answer === 'declined' && parts.refusals === 'kept') state.refused = true;
    if (answer !== 'open') state.answered.push(question.key);
  }
  if (openIn(parts, state).length > 0) {
    if (state.tries >= 9) return { ...text('There were too many tries.'), isError: true };
    return ask(parts, { ...state, tries: state.tries + 1 });
  }
  if (state.step + 1 < parts.steps.length) return ask(parts, { ...state, step: state.step + 1 });
  return state.refused ? parts.declined() : book(parts, approvalOf(parts, state, params.requestState));
}

/** A late probe shows three of four effects at the second look alone. */
function book({ world, late, named, instance, done }, approval) {
  world.used.add(approval);
  world.count++;
  if (!late || world.count % 4 === 1) world.shown = world.count;
  return named ? text(`Done by ${instance}.`) : done();
}

const tool = (name, annotations = {}) => ({ name, inputSchema: { type: 'object' }, annotations });
const TOOLS = [tool('book'), tool('count', { readOnlyHint: true }), tool('danger')];

async function answer(parts, request, principal) {
  const { method, params } = request;
  const capabilities = params?._meta?.[`${META}clientCapabilities`];
  if (capabilities === undefined) {
    const data = { supported: [REVISION], requested: '2025-11-25' };
    throw new Refused(-32022, 'This server speaks 2026-07-28.', { data, status: 400 });
  }
  if (method === 'server/discover')
    return { resultType: 'complete', supportedVersions: [REVISION], capabilities: { tools: {} }, ...CACHED };
  if (method === 'tools/list') return { resultType: 'complete', tools: TOOLS, ...CACHED };
  if (method !== 'tools/call') throw new Refused(-32601, 'There is no such method.', { status: 404 });
  if (params.name === 'count') {
    const { world } = parts;
    const { shown } = world;
    world.shown = world.count;
    return text(parts.count ? parts.count(shown) : String(shown));
  }
  const { elicitation } = capabilities;
  if (!elicitation || !('form' in elicitation || Object.keys(elicitation).length === 0)) {
    const data = { requiredCapabilities: { elicitation: { form: {} } } };
    throw new Refused(-32021, 'Forms are needed.', { data, status: 400 });
  }
  return call(parts, request, principal);
}

const MAX_IN_A_WINDOW = 20;
const WINDOW_MS = 250;

/** Its answer to each posted request. */
export function answersOf(design, world) {
  const parts = partsOf(design, world);
  let [room, window] = [MAX_IN_A_WINDOW, 0];
  const isLimited = () => {
    const now = Math.floor(performance.now() / WINDOW_MS);
    if (now > window) [room, window] = [MAX_IN_A_WINDOW, now];
    return design.limits && --room < 0;
  };
  return (request, res) => {
    if (request.id === undefined) return void res.writeHead(202).end();
    if (isLimited()) return void res.writeHead(429, { 'retry-after': '0' }).end();
    void respond(parts, request, res);
  };
}

async function respond(parts, request, res) {
  const { status, ...response } = await answer(parts, request, request.headers.authorization).then(
    (result) => ({ status: 200, result }),
    ({ code = -32603, message, data, status = 500 }) => ({ status, error: { code, message, data } }),
  );
  const body = JSON.stringify({ jsonrpc: '2.0', id: request.id, ...response });
  if (!parts.streams || status !== 200)
    return res.writeHead(status, { 'content-type': 'application/json' }).end(body);
  const before =
    parts.pings && request.method === 'tools/call'
      ? { id: 'p', method: 'ping' }
      : { method: 'notifications/message', params: { level: 'info', data: 'working' } };
  res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n');
  res.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...before })}\n\n`);
  res.end(`event: message\nid: 7\ndata: ${body}\n\n`);
}
