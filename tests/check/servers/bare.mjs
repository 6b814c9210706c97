#!/usr/bin/env node
/**
 * An MCP server on the bare protocol of 2026-07-28, without an SDK or our packages. It is correct, unless `--fault ID` adds
 * the fault that the check of that id finds.
 *
 *   node bare.mjs --world DIR [--http PORT] [--fault ID] [--key TEXT] [--ttl SECONDS] [--version N] [--change WHAT]
 *
 * The tool `transfer` asks for an account, then for a consent and a memo at once, and then writes a line to the world.
 * The prompt `transfer` and the resource `bank://transfer/WHO/AMOUNT` do the same; `balance` asks for the account alone,
 * and writes nothing. The tool `count` says how many lines there are. What several instances share lies in DIR: the lines, and the used approvals.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { unlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { digest, INSTANCE, open, operationOf, Refused, refuse, requestOf, seal } from './state.mjs';
import { claim, countLines, faulty, now, options, peek, remember, world, write } from './world.mjs';

const REVISION = '2026-07-28';
const MAX_TRIES = faulty('form.rounds') ? 10 : 2;
const META = 'io.modelcontextprotocol/';
let parked = 0;
let calls = 0;

// ---------------------------------------------------------------------------------------------- questions

const QUESTIONS = {
  account: {
    message: 'From which account?',
    schema: { type: 'string', enum: ['checking', 'savings'] },
  },
  sure: { message: sureMessage, schema: { type: 'boolean', default: faulty('consent.default-yes') } },
  memo: { message: 'A memo for the other side?', schema: { type: 'string', minLength: 1, maxLength: 40 } },
};
if (options.change === 'reworded') QUESTIONS.account.message = 'Which account pays?';
if (options.change === 'narrowed') QUESTIONS.account.schema.enum = ['checking'];

/** Shows an argument in a question as quoted JSON in ASCII. */
const shown = (value) =>
  faulty('consent.spoofed')
    ? value
    : JSON.stringify(value).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`);

function sureMessage({ to, amount, note }) {
  if (faulty('consent.blind')) return 'Really send it?';
  return `Really send ${shown(amount)} to ${shown(to)}${note ? ` for ${shown(note)}` : ''}?`;
}

function form(key, request, tries = 0) {
  const { message: words, schema } = QUESTIONS[key];
  const message = typeof words === 'string' ? words : words(operationOf(request).args);
  const extra = {};
  if (faulty('wire.schema') && key === 'account') extra.more = { type: 'object', properties: {} };
  if (faulty('form.portable') && key === 'account') extra.more = { type: 'integer' };
  const impossible = faulty('form.impossible') && tries > 0 && key === 'account' ? { minLength: 99 } : {};
  const required = faulty('consent.empty-form') && key === 'sure' ? {} : { required: [key] };
  const requestedSchema = {
    type: 'object',
    properties: { [key]: { ...schema, ...impossible }, ...extra },
    ...required,
  };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

const LOGIN = { mode: 'url', message: 'Log in first.', url: 'https://example.com/login' };
const PAGE = { method: 'elicitation/create', params: LOGIN };

/** The digest of a question, stored with its answer: another version compares it with its own question. */
const formId = (key, request) => digest(form(key, request));

const fits = (key, value) => {
  if (key === 'account')
    return (faulty('deploy.unfit') ? ['checking', 'savings'] : QUESTIONS.account.schema.enum).includes(value);
  if (key === 'sure') return typeof value === 'boolean';
  return typeof value === 'string' && value.length >= 1 && value.length <= 40;
};

/** Whether the extra field of a fault fits. */
const fitsMore = (more) =>
  faulty('form.portable')
    ? Number.isInteger(more)
    : typeof more === 'object' && more !== null && !Array.isArray(more);

/** The answer to a question: its value, `declined`, or undefined if it is missing or does not fit. */
function answerTo(key, responses) {
  const otherKey = faulty('answer.other-key') && Object.keys(responses).find((one) => one.startsWith(key));
  const answer = Object.hasOwn(responses, key) ? responses[key] : otherKey ? responses[otherKey] : undefined;
  if (answer === undefined || answer === null) return undefined;
  const given = answer.content?.[key];
  if (faulty('answer.refusal-with-content') && fits(key, given)) return { value: given };
  if (answer.action === 'decline') return faulty('refusal.decline-ends') ? undefined : { declined: true };
  if (answer.action === 'cancel') return faulty('refusal.cancel-ends') ? undefined : { declined: true };
  if (answer.action !== 'accept') return undefined;
  const { more } = answer.content ?? {};
  if (more !== undefined && !fitsMore(more)) return undefined;
  const empty = answer.content === undefined || Object.keys(answer.content).length === 0;
  if (faulty('consent.empty-form') && empty && key === 'sure') return { value: true };
  if (faulty('answer.empty-accept') && empty)
    return { value: key === 'memo' ? 'none' : key === 'sure' ? true : 'checking' };
  if (faulty('answer.invalid') && given !== undefined) return { value: given };
  return fits(key, given) ? { value: given } : undefined;
}

// ---------------------------------------------------------------------------------------------- the call

const text = (words, more) => ({ resultType: 'complete', content: [{ type: 'text', text: words }], ...more });
const sayOf = (request, words) => {
  if (request.method === 'prompts/get')
    return { resultType: 'complete', messages: [{ role: 'user', content: { type: 'text', text: words } }] };
  if (request.method === 'resources/read')
    return { resultType: 'complete', contents: [{ uri: request.params.uri, text: words }], ...CACHED };
  return text(words);
};

const KEYS = { account: ['account'], consent: ['sure', 'memo'] };
const writes = (request) => operationOf(request).name !== 'balance';
const lastStage = (request) => (writes(request) ? 'consent' : 'account');

async function converse(request, principal, exchange) {
  const { params } = request;
  const responses = params.inputResponses ?? {};
  // The process lives on, but the client gets no answer.
  if (faulty('state.malformed') && 'requestState' in params && typeof params.requestState !== 'string')
    exchange.drop();
  let state;
  if (params.requestState !== undefined) state = open(request, principal);
  else if (faulty('answer.unasked') && responses.account && responses.sure) state = fresh(request, principal);
  else if (faulty('state.dropped') && !responses.account && responses.sure)
    state = { ...fresh(request, principal), stage: 'consent', answers: { account: 'checking' } };
  const skips = faulty('consent.unasked-effect')
    ? exchange.capabilities.elicitation === undefined
    : faulty('consent.argument') && operationOf(request).args.confirm;
  if (state === undefined && skips) {
    const answers = { account: 'checking', sure: true, memo: 'none' };
    return complete(request, { ...fresh(request, principal), answers }, exchange);
  }
  if (state === undefined) {
    if (faulty('effect.before-answer') && writes(request)) write('early');
    return ask(fresh(request, principal), exchange);
  }
  const record = peek(usedKey(state, params));
  if (record !== undefined) return replayed(record, params);
  if (faulty('wire.unknown-members') && Object.keys(responses).some((key) => !(key in QUESTIONS)))
    throw new Refused(-32602, 'An answer that nobody asked for.');
  return proceed(request, state, responses, exchange);
}

const fresh = (request, principal) => ({
  id: randomBytes(12).toString('base64url'),
  for: requestOf(request),
  principal,
  expires: Date.now() + Number(options.ttl) * 1000,
  issued: now(),
  instance: INSTANCE,
  stage: 'account',
  tries: 0,
  answers: {},
  forms: {},
  version: options.version,
});

/** The key of a call's single use, the same in all its rounds. */
const usedKey = (state, params) =>
  faulty('state.rolled-back')
    ? digest(String(params.requestState))
    : faulty('deploy.replay')
      ? `${state.id}-${options.version}`
      : faulty('retry.other-answers')
        ? `${state.id}-${digest(params.inputResponses ?? {})}`
        : state.id;

function replayed(record, params) {
  const same = record !== 'taken' && record.answers === digest(params.inputResponses ?? {});
  if (same) return record.result;
  throw refuse('it was used');
}

const crossed = (state) => faulty('deploy.effect-once') && state.version !== options.version;

async function proceed(request, state, responses, exchange) {
  if (faulty('deploy.says-why') && state.version !== options.version) return accident(exchange);
  const { answers, asked } = answersOfThisVersion(state, request);
  if (crossed(state) && ['refusal', 'question'].includes(options.breaks)) {
    write('early');
    if (options.breaks === 'refusal') throw refuse('it is of another version');
    return ask({ ...state, version: options.version }, exchange);
  }
  const stages = [state.stage];
  const unasked = faulty('answer.unasked') && request.params.requestState === undefined;
  if (state.stage === 'account' && (unasked || (faulty('answer.other-round') && responses.sure)))
    stages.push('consent');
  for (const key of stages.flatMap((stage) => KEYS[stage])) {
    const answer = asked(key) ? answerTo(key, responses) : undefined;
    if (answer?.declined) return declined(request, key);
    if (answer !== undefined) answers[key] = answer.value;
  }
  const open = stages.flatMap((stage) => KEYS[stage]).filter((key) => !(key in answers));
  if (open.length > 0) {
    if (faulty('answer.missing') && Object.keys(responses).length === 0)
      throw new Refused(-32602, 'An answer is missing.');
    if (state.tries >= MAX_TRIES && !faulty('refusal.rounds-bounded')) {
      if (request.method !== 'tools/call') throw new Refused(-32602, 'There were too many tries.');
      return { ...text('There were too many tries.'), isError: true };
    }
    const kept = faulty('answer.partial') && state.stage === 'consent' ? state.answers : answers;
    const only = faulty('answer.partial') ? open : undefined;
    return ask({ ...state, stage: stages.at(-1), tries: state.tries + 1, answers: kept }, exchange, only);
  }
  const stage = stages.at(-1);
  // A stored answer may be invalid on this version.
  if (stage === 'consent' && !('account' in answers))
    return ask({ ...state, stage: 'account', answers }, exchange);
  const whole = KEYS.consent.every((key) => key in answers);
  if (stage === 'account' && lastStage(request) === 'consent' && !whole)
    return ask({ ...state, stage: 'consent', answers }, exchange);
  return complete(request, { ...state, answers }, exchange);
}

/** Breaks as code does that meets unexpected state of another version. */
function accident(exchange) {
  const words = "Cannot read properties of undefined (reading 'account')";
  if (options.breaks === 'process') process.exit(1);
  if (options.breaks === 'leak') return { ...text(words), isError: true };
  if (options.breaks === 'status') exchange.status(500);
  throw new TypeError(words);
}

/** The stored answers whose questions are unchanged in this version, with the digests of those questions. */
function answersOfThisVersion({ version, answers, forms }, request) {
  if (version !== options.version) {
    const older = version < options.version;
    if (faulty('deploy.survives') && older) throw refuse('it is of another version');
    if (faulty('deploy.returns') && !older) throw refuse('it is of another version');
  }
  const asked = (key) => {
    if (forms[key] === undefined || forms[key] === formId(key, request)) return true;
    if (faulty('deploy.reworded')) return true;
    return faulty('deploy.unfit');
  };
  return { answers: Object.fromEntries(Object.entries(answers).filter(([key]) => asked(key))), asked };
}

function declined(request, key) {
  if (faulty('refusal.no-effect') && key === 'account' && writes(request)) write('declined');
  parked = 0;
  return sayOf(request, 'Nothing was sent.');
}

function timesOf(state) {
  if (crossed(state)) return options.breaks === 'nothing' ? 0 : 2;
  return faulty('effect.once') ? 2 : faulty('effect.per-round') ? 1 + state.tries : 1;
}

async function complete(request, state, exchange) {
  const { answers } = state;
  const { params } = request;
  if (!writes(request)) return sayOf(request, `The balance of ${answers.account} is 12.`);
  if (answers.sure === false && !faulty('consent.false-in-form')) return sayOf(request, 'Nothing was sent.');
  const key = usedKey(state, params);
  const unguarded = faulty('retry.twice');
  if (faulty('retry.concurrent')) {
    if (peek(key)) return replayed(peek(key), params);
    await pause(50);
  } else if (!unguarded) {
    const record = claim(faulty('retry.lost-response') ? `${key}-running` : key);
    if (record !== undefined) return replayed(record, params);
  }
  const { to, amount } = operationOf(request).args;
  const line = `${amount} from ${answers.account} to ${to}`;
  if (!faulty('effect.before-answer')) for (let time = timesOf(state); time > 0; time--) write(line);
  parked = 0;
  const result = sayOf(request, `Sent ${line}: ${answers.memo}.`);
  const record = { answers: digest(params.inputResponses ?? {}), result };
  if (faulty('retry.lost-response')) {
    await exchange.whenRead(() => remember(key, record));
    unlinkSync(join(world, 'used', `${key}-running`));
  } else if (!unguarded) remember(key, record);
  return result;
}

function ask(state, { capabilities, request }, only) {
  const wanted = KEYS[state.stage].filter((key) => (only ? only.includes(key) : !(key in state.answers)));
  const { elicitation } = capabilities;
  const forms = elicitation && ('form' in elicitation || Object.keys(elicitation).length === 0);
  const hole = faulty('capability.undeclared') && elicitation === undefined;
  if (!forms && !hole)
    throw new Refused(-32021, 'Forms are needed.', { requiredCapabilities: { elicitation: { form: {} } } });
  parked++;
  const page = faulty('capability.mode') && state.stage === 'account' ? { page: PAGE } : {};
  const padding = faulty('state.size') ? { padding: 'x'.repeat(2500) } : {};
  return {
    resultType: 'input_required',
    inputRequests: {
      ...Object.fromEntries(wanted.map((key) => [key, form(key, request, state.tries)])),
      ...page,
    },
    requestState: seal({
      ...state,
      forms: { ...state.forms, ...Object.fromEntries(wanted.map((key) => [key, formId(key, request)])) },
      ...padding,
    }),
  };
}

// ---------------------------------------------------------------------------------------------- methods

const INPUT = {
  type: 'object',
  properties: {
    to: { type: 'string', enum: ['bob', 'carol'] },
    amount: { type: 'integer', minimum: 1 },
    note: { type: 'string' },
    confirm: { type: 'boolean' },
  },
  required: ['to', 'amount'],
};
const TOOLS = [
  { name: 'transfer', inputSchema: INPUT, annotations: { readOnlyHint: false } },
  { name: 'refund', inputSchema: INPUT, annotations: { readOnlyHint: false } },
  { name: 'count', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
];
const PROMPTS = [{ name: 'transfer' }, { name: 'refund' }, { name: 'balance' }];
const ALL = { tools: {}, prompts: {}, resources: {} };
const CACHED = { ttlMs: 0, cacheScope: 'private' };

async function answer(request, principal, exchange) {
  const { method, params } = request;
  switch (method) {
    case 'server/discover':
      return { resultType: 'complete', supportedVersions: [REVISION], capabilities: ALL, ...CACHED };
    case 'tools/list':
      return { resultType: 'complete', tools: TOOLS, ...CACHED };
    case 'prompts/list':
      return { resultType: 'complete', prompts: PROMPTS, ...CACHED };
    case 'tools/call':
      if (params.name === 'count') return text(String(countLines()));
      if (params.name !== 'transfer' && params.name !== 'refund')
        throw new Refused(-32602, `No tool ${params.name}.`);
      break;
    case 'prompts/get':
    case 'resources/read':
      break;
    default:
      throw new Refused(-32601, `No method ${method}.`);
  }
  calls++;
  if (calls > Number(options['calls-until-broken'])) {
    if (method !== 'tools/call') throw new Refused(-32603, 'Out of order.');
    return { ...text('Out of order.'), isError: true };
  }
  if (faulty('abandon.flat') && parked > 160) await pause(80);
  return converse(request, principal, { ...exchange, request });
}

async function respond(request, principal, exchange) {
  const { id } = request;
  try {
    const capabilities = request.params?._meta?.[`${META}clientCapabilities`];
    if (capabilities === undefined) return legacy(request, exchange);
    const result = await answer(request, principal, { ...exchange, capabilities });
    if (faulty('wire.result-type') && result.resultType === 'complete') delete result.resultType;
    const response = JSON.stringify({ jsonrpc: '2.0', id, result });
    return faulty('wire.duplicate-keys')
      ? response.replace('{"account":', '{"account":{},"account":')
      : response;
  } catch (error) {
    const { code, message, data } =
      error instanceof Refused ? error : { code: -32603, message: 'Internal error.' };
    if (options.breaks !== 'status')
      exchange.status?.(code === -32021 || code === -32022 ? 400 : code === -32601 ? 404 : 200);
    const own = faulty('wire.shape') ? String(id) : id;
    return JSON.stringify({ jsonrpc: '2.0', id: own, error: { code, message, data } });
  }
}

/** Answers clients of earlier revisions with an error that says why. With the fault, treats them as new clients. */
async function legacy(request, exchange) {
  const { id, method, params } = request;
  const blind =
    (options.shim && exchange.session) ||
    (faulty('era.same') && (method === 'initialize' || exchange.session)) ||
    (faulty('era.stateless') && method !== 'initialize');
  if (!blind) {
    exchange.status?.(400);
    const data = { supported: [REVISION], requested: params?.protocolVersion ?? '2025-11-25' };
    const error = { code: -32022, message: `This server speaks ${REVISION}.`, data };
    return JSON.stringify({ jsonrpc: '2.0', id, error });
  }
  if (options.shim && method !== 'initialize')
    return JSON.stringify({ jsonrpc: '2.0', id, ...(await shimmed(request, exchange)) });
  const result =
    method === 'initialize'
      ? {
          protocolVersion: '2025-11-25',
          capabilities: ALL,
          serverInfo: { name: 'bare', version: '1' },
        }
      : await answer(request, 'nobody', { ...exchange, capabilities: { elicitation: {} } });
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

/** Asks an old client by requests on its live session, one question at a time. */
async function shimmed(request, exchange) {
  if (options.shim === 'hang') await new Promise(() => {});
  if (options.shim === 'wordless') return { error: { code: -32603, message: '' } };
  const asOld = { ...exchange, capabilities: { elicitation: {} } };
  let { params } = request;
  for (;;) {
    const { resultType, ...result } = await answer({ ...request, params }, 'nobody', asOld);
    if (resultType !== 'input_required')
      return { result: options.shim === 'end' ? sayOf(request, 'Something else.') : result };
    const inputResponses = {};
    for (const [key, asked] of Object.entries(result.inputRequests)) {
      const message = options.shim === 'words' ? `${asked.params.message} Please.` : asked.params.message;
      inputResponses[key] = await exchange.ask({ ...asked.params, message });
    }
    params = { ...request.params, inputResponses, requestState: result.requestState };
  }
}

// ---------------------------------------------------------------------------------------------- transports

const MAY_ASK = ['tools/call', 'prompts/get', 'resources/read'];
const INTERRUPTION = '{"jsonrpc":"2.0","id":"s1","method":"roots/list"}';

const interrupting = ({ method, params }) =>
  faulty('wire.no-server-requests') &&
  MAY_ASK.includes(method) &&
  params._meta?.[`${META}clientCapabilities`]?.roots !== undefined;

async function overHttp(port) {
  const server = createServer(async (req, res) => {
    if (req.method !== 'POST') return res.writeHead(405).end();
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const request = JSON.parse(Buffer.concat(chunks).toString());
    if (request.id === undefined) return res.writeHead(202).end();
    let status = 200;
    const interrupts = interrupting(request);
    const stream = interrupts || (faulty('retry.lost-response') && MAY_ASK.includes(request.method));
    if (stream) res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n');
    if (interrupts) res.write(`event: message\ndata: ${INTERRUPTION}\n\n`);
    const exchange = {
      status: (code) => {
        status = code;
      },
      session: req.headers['mcp-session-id'],
      drop: () => req.socket.destroy(),
      whenRead: async (then) => {
        // Hold the answer until a busy client has cut the connection.
        await Promise.race([once(req.socket, 'close'), pause(250)]);
        if (!req.socket.destroyed) then();
      },
    };
    const response = await respond(request, req.headers.authorization ?? 'nobody', exchange);
    if (res.headersSent) return res.end(`event: message\ndata: ${response}\n\n`);
    res.writeHead(status, {
      'content-type': 'application/json',
      ...(faulty('era.same') && request.method === 'initialize' && { 'mcp-session-id': 's' }),
    });
    res.end(response);
  });
  server.listen(port, '127.0.0.1', () =>
    console.error(`listening at http://127.0.0.1:${server.address().port}/mcp`),
  );
}

function overStdio() {
  const waiting = new Map();
  const ask = (params) =>
    new Promise((resolve) => {
      const id = `e${waiting.size}`;
      waiting.set(id, resolve);
      const line = JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
      process.stdout.write(`${line}\n`);
    });
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const request = JSON.parse(line);
    if (request.id === undefined) return;
    if (request.method === undefined) return waiting.get(request.id)?.(request.result);
    if (options.chatty) process.stdout.write('got a request\n');
    if (interrupting(request)) process.stdout.write(`${INTERRUPTION}\n`);
    // A process is one session.
    const exchange = { drop: () => process.exit(1), session: 'stdio', ask, whenRead: async (then) => then() };
    process.stdout.write(`${await respond(request, 'nobody', exchange)}\n`);
  });
}

if (options.http === undefined) overStdio();
else await overHttp(Number(options.http));
