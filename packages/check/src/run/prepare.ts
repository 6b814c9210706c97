/** Prepares a run: connects, looks up the operation, and makes the first honest calls. */
import { REVISION } from '@mrtr/harness/internal';
import { asText } from '@mrtr/harness/transcript';
import { type CheckContext, createContext } from '../judging/context.ts';
import { ONCE_BY_NATURE, SOON_MS, VARY } from '../observations/effects.ts';
import { isPage } from '../observations/forms.ts';
import { inWorker, unlessUnreadable } from '../sandbox.ts';
import {
  type Evident,
  MAX_ROUNDS,
  makeTurn,
  type Retry,
  type Session,
  type SessionContext,
  Undecided,
} from '../session/session.ts';
import type { Instance } from '../target/instance.ts';
import { type CompleteInputs, nameOf, type Operation, UsageError } from '../target/target.ts';
import { isObject, type JsonObject, objectAt } from '../wire/json.ts';
import { outcomeOf } from '../wire/outcome.ts';
import { OLD_REVISION } from '../wire/request.ts';
import type { Served } from './limit.ts';
import { MIGRATE } from './old-server.ts';

/** The context for the checks, and the failure of the first calls if there was one. */
export interface Prepared {
  readonly context: CheckContext;
  readonly failure: Undecided | undefined;
  /** The server does not speak the checked revision, so its messages are not judged. */
  readonly isForeign: boolean;
}

/** Prepares a run. The caller closes the fleet. @throws UsageError if the inputs do not fit the server */
export async function prepare(inputs: CompleteInputs, served: Served, next: Instance | undefined) {
  const { operation, otherOperation: other, seed } = inputs;
  const context = createContext(inputs, served);
  const failureOf = (work: () => Promise<unknown>) =>
    served.limit.within(work).then(() => undefined, catchUndecided);
  const unready = await failureOf(async () => {
    await requireRevision(context);
    await lookUp(context);
  });
  if (!unready) allowEffects(context);
  if (isReadOnly(operation, context.entries.get(nameOf(operation)))) context.effects.expectNone();
  if (next) context.nextUnready = (await failureOf(() => lookUpNext(context, next)))?.message;
  const schema = context.schemaOf(operation);
  context.otherArguments =
    inputs.otherArguments ??
    (await unlessUnreadable(inWorker('otherArgumentsFrom', schema, operation.arguments, seed)));
  if (other)
    context.otherCalls = (await unlessUnreadable(
      inWorker('callsOf', other, context.schemaOf(other), operation, schema, seed),
    )) ?? [{ operation: other, own: operation.arguments }];
  // Whatever ends the first calls is a reason why the checks could not run.
  const first = () => firstCalls(context).catch((error: Undecided) => error);
  const failure = unready ?? (await served.limit.within(first).catch(catchUndecided));
  return { context, failure, isForeign: unready !== undefined };
}

/** Returns the error of a run that cannot decide. Throws others again. */
export function catchUndecided(error: unknown) {
  if (error instanceof Undecided) return error;
  throw error;
}

/** Makes one honest call and adds it to the facts. Returns the reason if it failed. */
export async function honestCall(context: CheckContext, asked?: (session: Session) => Promise<Retry>) {
  const session = context.session();
  await session.finish(MAX_ROUNDS, asked);
  const reason = context.facts.learn(session);
  return reason ? new Undecided(reason, session) : undefined;
}

/**
 * Makes one honest call. `still`: the reason if it does not change the probe, though an earlier one did. An effect that
 * happens once hides every fault.
 */
export async function honestCallSeen(context: CheckContext) {
  const { effects } = context;
  const before = await effects.read();
  const failed = await honestCall(context);
  if (effects.mode !== 'observed' || before !== (await effects.read())) return { failed };
  await context.pause(SOON_MS);
  const soon = await effects.read();
  return { failed, still: before === soon ? ONCE_BY_NATURE : effects.late(before, soon) };
}

async function firstCalls(context: CheckContext) {
  const { effects } = context;
  const first = await effects.read();
  const before = await effects.read();
  const readings = [first, before];
  const read = async () => void readings.push(await effects.read());
  const failed = await honestCall(context, async ({ asked }) => {
    await context.answerer.mustFit(asked);
    await read();
    return {};
  });
  if (failed) {
    const { message, session } = failed;
    throw new Undecided(`the honest call failed: ${message}${hint(context, session)}`, session);
  }
  await read();
  if (context.inputs.probe) await context.pause(SOON_MS);
  await read();
  effects.calibrate(readings);
  const { failed: again, still } = await honestCallSeen(context);
  if (again)
    throw new Undecided(
      `the second honest call failed: ${again.message.replace(/\.$/, '')}. If its effect happens once for these arguments, ${VARY}`,
      again.session,
    );
  if (still) effects.blind(still);
  return undefined;
}

function hint({ answerer }: CheckContext, session: Evident | undefined) {
  if (Object.values(session?.asked ?? {}).some(isPage))
    return '. A page decides, and the checker opens no page: docs/checking.md has a proxy that presses its button';
  return answerer.generated
    ? ' (The server may not accept a generated answer: give your own with --answer.)'
    : '';
}

/** @throws Undecided if the server speaks neither revision, or is no server */
export async function requireRevision(context: SessionContext, instance = context.instance) {
  const reply = await request(context, 'server/discover', {}, instance);
  const versions = reply.result?.supportedVersions;
  if (Array.isArray(versions) && versions.includes(REVISION)) return;
  if (Array.isArray(versions))
    throw new Undecided(`the server speaks ${versions.join(', ')}, and not ${REVISION}`);
  const words = `${outcomeOf(reply)}`;
  const unanswered = reply.status === undefined && !reply.result && !reply.error;
  if (unanswered && (await instance.ending()))
    throw new UsageError(
      `${instance.words} ended before it answered (${words}). It wrote:\n${instance.tail || 'nothing'}`,
    );
  if (unanswered) {
    const got = words.startsWith('no answer') ? words : `no answer: ${words}`;
    throw new Undecided(`server/discover got ${got}${overStdio(instance)}`);
  }
  const { status } = reply;
  if (status === 401 || status === 403)
    throw new Undecided(
      `the server answered server/discover with HTTP ${status}: give credentials that it takes with --header`,
    );
  if (status === 404 && !reply.error)
    throw new Undecided(
      `there is no MCP at ${instance.url?.pathname} (HTTP 404): give the whole address, as 'http://localhost:{port}/mcp'`,
    );
  const old = await findOldRevision(instance);
  if (old && instance === context.instance) {
    await instance.speakOld();
    return;
  }
  if (old)
    throw new Undecided(
      `the server speaks ${old} alone, and not ${REVISION}: there a tool asks by a request on its session, without ` +
        `rounds or state to check. ${MIGRATE}`,
    );
  throw new Undecided(`the server does not speak ${REVISION}: server/discover came to ${words}`);
}

/** The earlier revision that the server offers a client of 2025-11-25, or undefined. */
async function findOldRevision(instance: Instance) {
  const clientInfo = { name: 'mrtr-check', version: '0.0.0' };
  const params = { protocolVersion: OLD_REVISION, capabilities: { elicitation: {} }, clientInfo };
  const { result } = await instance.sendAsOld({ method: 'initialize', params });
  const version = result?.protocolVersion;
  return typeof version === 'string' && version < REVISION ? version : undefined;
}

/** A hint for a command without `{port}`, which may start an HTTP server that never answers on stdio. */
const overStdio = ({ kind, tail }: Instance) =>
  kind === 'http'
    ? ''
    : `. A command without {port} is called over stdio; an HTTP server needs {port} where it takes its port.` +
      (tail === '' ? '' : ` It wrote: ${tail.slice(-300)}`);

async function lookUp(context: CheckContext) {
  const { operation, otherOperation } = context.inputs;
  for (const one of [operation, ...(otherOperation ? [otherOperation] : [])]) {
    const { listed, entry } = await findEntry(context, one);
    if (listed && !entry)
      throw new UsageError(
        `The server has no ${nameOf(one)}. It has: ${listed.map(({ name }) => asText(name)).join(', ') || 'none'}.`,
      );
    if (entry) context.entries.set(nameOf(one), entry);
  }
}

/** Finds an operation in the server's list. Resources are not looked up, because many are in no list. */
async function findEntry(context: SessionContext, { kind, name }: Operation, instance?: Instance) {
  const listed = kind === 'resource' ? undefined : await list(context, kind, instance);
  return { listed, entry: listed?.find((one) => one.name === name) };
}

/** @throws Undecided if the new version cannot be called. A missing tool is no usage error: it may be removed. */
async function lookUpNext(context: CheckContext, next: Instance) {
  const { operation, inputs } = context;
  await requireRevision(context, next).catch((error) => {
    throw new Undecided(`of the new version: ${catchUndecided(error).message}`);
  });
  const { listed, entry } = await findEntry(context, operation, next);
  if (listed && !entry)
    throw new Undecided(`the new version has no ${nameOf(operation)}, so no honest call on it can be made`);
  if (!isReadOnly(operation, entry) && !inputs.allowEffects)
    throw notAllowed(`${nameOf(operation)} of the new version`);
}

/** Reads every page of a list. Undefined if the server has no such list. */
export async function list(context: SessionContext, kind: Operation['kind'], instance = context.instance) {
  const entries: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < 50; page++) {
    const { result, failure, status, late } = await request(
      context,
      `${kind}s/list`,
      cursor === undefined ? {} : { cursor },
      instance,
    );
    // A server without this list may answer HTTP 404 or 405. Any other failure hides whether there is a list.
    const isRefused = status !== undefined && status >= 400 && status < 500;
    if (failure && (late || !isRefused))
      throw new Undecided(`${kind}s/list got no answer that can be read: ${failure}`);
    const found = result?.[`${kind}s`];
    if (!Array.isArray(found)) return page === 0 ? undefined : entries;
    entries.push(...found.filter(isObject));
    cursor = result?.nextCursor;
    if (cursor === undefined) break;
  }
  return entries;
}

async function request(context: SessionContext, method: string, params: JsonObject, instance: Instance) {
  const turn = await makeTurn(instance, { method, params });
  context.record(turn);
  return turn.reply;
}

/** Whether an operation only reads. `entry`: the operation in its list. */
export const isReadOnly = ({ kind }: Pick<Operation, 'kind'>, entry: JsonObject | undefined) =>
  kind !== 'tool' || objectAt(entry, 'annotations').readOnlyHint === true;

function allowEffects({ inputs, entries }: CheckContext) {
  for (const one of inputs.allowEffects ? [] : [inputs.operation, inputs.otherOperation])
    if (one && !isReadOnly(one, entries.get(nameOf(one)))) throw notAllowed(nameOf(one));
}

const notAllowed = (what: string) =>
  new UsageError(
    `The ${what} is not declared read-only (readOnlyHint), and was not called. A run calls it ` +
      `several hundred times with honest and altered answers (--dry-run prints the maximum), and each honest call has its effect. ` +
      `Point this at a server whose effects do not matter, and add --allow-effects.`,
  );
