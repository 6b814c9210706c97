/** Checks of every message, read from its bytes. */
import { setImmediate } from 'node:timers/promises';
import { asText } from '@mrtr/harness/transcript';
import {
  advise,
  type CheckParts,
  cite,
  defineCheck,
  type Finding,
  fail,
  type Level,
  pass,
  warn,
} from '../judging/check.ts';
import type { CheckContext, Logged } from '../judging/context.ts';
import { inWorker } from '../sandbox.ts';
import { requireAnswer, type Session, type Turn } from '../session/session.ts';
import { asObject, isObject, type JsonObject, objectAt, shorten } from '../wire/json.ts';
import { isResponse, isServerRequest } from '../wire/reply.ts';
import { IGNORE } from './answer.ts';

/** Provokes every kind of message: refusals, missing answers, bad state, no capabilities. */
async function sweep(context: CheckContext) {
  const changes = [
    (session: Session) => ({ inputResponses: session.refusals('decline') }),
    (session: Session) => ({ inputResponses: session.refusals('cancel') }),
    () => ({ inputResponses: undefined }),
    () => ({ requestState: 'mrtr-check' }),
  ];
  for (const change of changes) {
    const session = await context.untilRound(0);
    await session.retry(change(session));
  }
  await context.session({ capabilities: {} }).first();
}

type Fault = (turn: Turn) => string | undefined | Promise<string | undefined>;

interface Sought {
  readonly fault: Fault;
  /** Finds behaviour that the specification allows but no client can use. */
  readonly allowed?: Fault | undefined;
}

/** Finds the first fault, or else the first oddity that the specification allows. Stops when `isOver` returns true. */
async function findFault(log: readonly Logged[], { fault, allowed }: Sought, isOver: () => boolean) {
  let harmless: Finding | undefined;
  for (const logged of log) {
    // Large answers take long to read, and the time of the run may be over.
    await setImmediate();
    if (isOver()) break;
    const { turn } = logged;
    const wrong = await fault(turn);
    if (wrong) return fail(`${turn.request.method}: ${wrong}.`, asOf(logged));
    const odd = harmless ? undefined : await allowed?.(turn);
    if (!odd) continue;
    harmless = advise(`${turn.request.method}: ${odd}.`, asOf(logged), { holds: true });
  }
  return harmless;
}

/** The time for all checks of the wire together, in milliseconds: the run may be over when they read its first messages. */
const MAX_LOOKING_MS = 1500;

/** Judges the messages of the first honest calls, before any check. */
async function judgeFirst(context: CheckContext, sought: Sought) {
  const until = await context.once('looking', async () => performance.now() + MAX_LOOKING_MS);
  const first = context.log.filter(({ during }) => during === undefined);
  return findFault(first, sought, () => performance.now() >= until);
}

async function judgeAll(context: CheckContext, sought: Sought) {
  await context.once('sweep', () => sweep(context));
  const { limit, log } = context;
  const finding = await findFault(log, sought, () => limit.over.aborted);
  limit.over.throwIfAborted();
  return finding ?? pass(`${log.length} exchanges read`);
}

/** The call up to this answer: later messages show nothing more. A request of no call stands alone. */
function asOf({ turn, session, during }: Logged) {
  const { title = turn.request.method, isOld = false, moments = [turn] } = session ?? {};
  const until = moments.slice(0, moments.indexOf(turn) + 1);
  return { title, isOld, moments: until, turn, last: turn.outcome, during };
}

/** Makes a check that reads every message, and sends none of its own. */
export const wireCheck = (
  id: string,
  {
    level = 'M',
    fault,
    allowed,
    ...parts
  }: Pick<CheckParts, 'expected' | 'clause' | 'remedy'> & { readonly level?: Level } & Sought,
) =>
  defineCheck(id, level, {
    ...parts,
    calls: (rounds) => 2 * (rounds + 5),
    judgeReceived: (context) => context.once(id, () => judgeFirst(context, { fault, allowed })),
    run: (context) => judgeAll(context, { fault, allowed }),
  });

const MAY_ASK = ['tools/call', 'prompts/get', 'resources/read'];

function responseFault({ reply }: Turn) {
  const { id, status, failure, response } = reply;
  const responses = reply.messages.filter(({ value }) => isResponse(value));
  const noise = status === undefined && reply.messages.find(({ value }) => value === undefined);
  if (noise) return `a line on standard output is no message: ${shorten(noise.text, 80)}`;
  if (responses.length === 0) return status === 200 && !reply.late && !reply.cut ? failure : undefined;
  if (!response) return undefined;
  if (response.jsonrpc !== '2.0') return 'the response does not say jsonrpc "2.0"';
  // A server that cannot read a request, such as one that is too long, does not know its id.
  const unread = 'error' in response && (response.id === undefined || response.id === null) && status !== 200;
  if (id !== undefined && response.id !== id && !unread)
    return `the response has the id ${JSON.stringify(response.id)} for a request with the id ${id}`;
  if ('result' in response && 'error' in response) return 'the response has both a result and an error';
  return failure;
}

function askingFault({ reply, request }: Turn) {
  const { result } = reply;
  if (result?.resultType !== 'input_required') return undefined;
  if (!MAY_ASK.includes(request.method)) return 'an input_required for a method that may not ask';
  const { inputRequests, requestState } = result;
  if (inputRequests === undefined && requestState === undefined)
    return 'an input_required with neither requests nor state';
  const asked = Object.entries(asObject(inputRequests));
  const strange = asked.find(([, one]) => !ASKABLE.includes(asText(asObject(one).method)));
  return strange && `the request '${strange[0]}' is none of ${ASKABLE.join(', ')}`;
}

const ASKABLE = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

const RESULTS = {
  'tools/call': 'CallToolResult',
  'prompts/get': 'GetPromptResult',
  'resources/read': 'ReadResourceResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'prompts/list': 'ListPromptsResult',
} as const;

/** The reserved range of codes, with those that this revision defines and those that it forbids. */
const RESERVED = { from: -32099, to: -32020, defined: [-32020, -32021, -32022], forbidden: [-32002, -32042] };

async function errorFault(error: unknown) {
  const wrong = await inWorker('misfit', 'Error', error);
  if (wrong) return `the error does not fit: ${wrong}`;
  const { code } = error as { code: number };
  if (RESERVED.forbidden.includes(code)) return `the error code ${code} belongs to earlier revisions`;
  const reserved = code >= RESERVED.from && code <= RESERVED.to && !RESERVED.defined.includes(code);
  return reserved ? `the error code ${code} is reserved and not defined` : undefined;
}

async function requestsFault(result: JsonObject) {
  for (const [key, request] of Object.entries(objectAt(result, 'inputRequests'))) {
    if (!isObject(request)) return `the request '${key}' is no object`;
    // The validator reports every alternative of a union; the first sentences are enough.
    const wrong = await requestFault(request);
    if (wrong) return `the request '${key}' does not fit: ${shorten(wrong, 240)}`;
  }
  return undefined;
}

async function requestFault({ method, params }: JsonObject) {
  if (method === 'roots/list')
    return inWorker('misfit', 'ListRootsRequest', { method, params: params ?? {} });
  if (method === 'sampling/createMessage')
    return inWorker('misfit', 'CreateMessageRequest', { method, params });
  if (method !== 'elicitation/create') return undefined;
  const { mode, requestedSchema } = asObject(params);
  if (mode === 'url') return inWorker('misfit', 'ElicitRequestURLParams', params);
  return (await inWorker('misfit', 'ElicitRequestFormParams', params)) ?? formFault(requestedSchema);
}

function formFault(form: unknown) {
  if (!isObject(form) || !Array.isArray(form.required)) return undefined;
  const fields = Object.keys(objectAt(form, 'properties'));
  const missing = form.required.find((name) => !fields.includes(asText(name)));
  return missing === undefined ? undefined : `it requires '${asText(missing)}', which it does not describe`;
}

export const WIRE = [
  wireCheck('wire.result-type', {
    expected: 'Every result has a resultType, either "complete" or "input_required".',
    clause: cite(
      'basic, result responses and resultType',
      'The result MUST include a resultType field to indicate the type of the result. A resultType of any value ' +
        'unrecognized by the client MUST be considered invalid.',
    ),
    remedy:
      'Set resultType in every result. SDKs for 2026-07-28 do: this server may use an older one, or bypass it.',
    fault: ({ reply: { result } }) => {
      if (!result || result.resultType === 'complete' || result.resultType === 'input_required')
        return undefined;
      return result.resultType === undefined
        ? 'the result has no resultType'
        : `the resultType is ${JSON.stringify(result.resultType)}`;
    },
  }),
  wireCheck('wire.shape', {
    expected:
      'Every answer is one JSON-RPC response with the id of its request, and an input_required has requests or state.',
    clause: cite(
      'basic/patterns/mrtr, server requirements 2 and 6; basic, responses; basic/transports/stdio',
      'Servers MUST include at least one of inputRequests or requestState in every InputRequiredResult response. ' +
        'Servers MUST NOT send InputRequiredResult responses on any other client requests. Result responses MUST ' +
        'include the same ID as the request they correspond to. The server MUST NOT write anything to its stdout that is ' +
        'not a valid MCP message.',
    ),
    remedy:
      'Send an input_required result with inputRequests, requestState, or both, and only for tools/call, prompts/get and ' +
      'resources/read. Write logs to standard error.',
    fault: (turn) => responseFault(turn) ?? askingFault(turn),
    allowed: ({ reply }) => {
      const { resultType, inputRequests, requestState } = reply.result ?? {};
      if (resultType !== 'input_required' || !isObject(inputRequests) || requestState !== undefined)
        return undefined;
      return Object.keys(inputRequests).length > 0
        ? undefined
        : 'an input_required with an empty inputRequests and no state, which no retry can differ from';
    },
  }),
  wireCheck('wire.schema', {
    expected: 'Every message fits the published schema, and every asked form is a legal elicitation schema.',
    clause: cite(
      'schema; client/elicitation, requested schema; basic, error codes',
      'form mode elicitation schemas are limited to flat objects with primitive properties only. Implementations MUST ' +
        'NOT emit any code from this sub-range (-32020 to -32099) that is not defined by this specification.',
    ),
    remedy:
      'Ask with flat objects of strings, numbers, booleans and enums; validate what you send by the published schema.',
    fault: async ({ request, reply: { result, error } }) => {
      if (error) return errorFault(error);
      if (!result || typeof result.resultType !== 'string') return undefined;
      // Judge each request separately, so that the finding can name it.
      const { inputRequests, requestState } = result;
      const whole = {
        ...result,
        ...(isObject(inputRequests) && { inputRequests: {} }),
        // Every text is a state, and each is new: without them, one answer of the worker serves for many results.
        ...(typeof requestState === 'string' && { requestState: '' }),
      };
      if (result.resultType === 'input_required')
        return (await inWorker('misfit', 'InputRequiredResult', whole)) ?? requestsFault(result);
      const known = RESULTS[request.method as keyof typeof RESULTS];
      return known && inWorker('misfit', known, result);
    },
  }),
  /** Reads the bytes: a parser has already dropped the first of two equal keys. */
  wireCheck('wire.duplicate-keys', {
    expected: 'No object of a response holds a key twice.',
    clause: cite(
      'basic/patterns/mrtr, server requirements 2',
      'inputRequests keys are server assigned identifiers and MUST be unique within the scope of the request.',
    ),
    remedy: 'Give each question its own key. Parsers silently keep the last of two, so a question is lost.',
    fault: async ({ reply }) => {
      for (const { text, value } of reply.messages) {
        // A parser has dropped the first of two keys, so a text that it makes again has none twice.
        const isSame = value === undefined || JSON.stringify(value) === text;
        const [twice] = isSame ? [] : await inWorker('duplicateKeys', text);
        if (twice !== undefined) return `the key ${twice} stands twice in the response`;
      }
      return undefined;
    },
  }),
  wireCheck('wire.no-server-requests', {
    expected: 'A client of 2026-07-28 gets no request from the server.',
    clause: cite(
      'basic/patterns/mrtr, note; basic/transports',
      'Servers MUST send server-to-client requests … using the MRTR pattern. The previous pattern of server-initiated ' +
        'requests is no longer supported.',
    ),
    remedy:
      'Return an input_required result instead of sending elicitation/create: a client of this revision cannot answer a request.',
    fault: ({ reply }) => {
      const sent = reply.messages.map(({ value }) => value).find(isServerRequest);
      return sent && `the server sent the request ${asText(sent.method)}`;
    },
  }),
  /** Later revisions add members. A server that rejects unknown ones rejects later clients. */
  defineCheck('wire.unknown-members', 'S', {
    expected: 'Unknown members inside and beside the answers change nothing.',
    clause: IGNORE,
    remedy: 'Read the answers that you asked for, and ignore the rest.',
    run: async (context) => {
      const session = context.session();
      const outcome = await session.finish(context.facts.rounds.length + 2, () => {
        const answers = session.mapAnswers((answer) => ({ ...answer, 'x-mrtr-check': { unknown: true } }));
        const unknown = { 'mrtr-check-unknown': { action: 'accept', content: { unknown: true } } };
        return { inputResponses: { ...answers, ...unknown } };
      });
      requireAnswer(outcome);
      if (outcome.kind === 'completed' && context.judge(context.lastRound, outcome) === 'same')
        return pass('the same end as without them', session);
      return warn(`With unknown members the call came to ${outcome}.`, session);
    },
  }),
];
