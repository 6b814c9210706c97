/** State belongs to one call. Sends it with other arguments, to another operation, as another principal, or too late. */
import { effectsUnseen } from '../../judging/attack.ts';
import {
  abstain,
  abstainFor,
  advise,
  cite,
  defineCheck,
  fail,
  isFault,
  notApplicable,
  notGiven,
  pass,
  warn,
} from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { inWorker, unlessUnreadable } from '../../sandbox.ts';
import { type Retry, requireAnswer, type Session, type SessionOptions } from '../../session/session.ts';
import { nameOf } from '../../target/target.ts';
import { canonical } from '../../wire/json.ts';
import { type Asked, saysNo } from '../../wire/outcome.ts';
import { remembersUsed, SINGLE_USE } from '../retry.ts';

const bound = (what: string) =>
  cite(
    'basic/patterns/mrtr, server requirements 5',
    'To prevent replay, servers SHOULD include the following inside the integrity-protected requestState payload and ' +
      `verify each on receipt: … ${what}`,
  );

const REQUEST = bound(
  'an identifier for the originating request, e.g. the method name and a digest of its salient parameters, ' +
    'rejecting state presented on a request that does not match.',
);

const bind = (what: string) =>
  `Put ${what} into the state, and compare it when the state comes back. In TypeScript: @mrtr/core binds every state to its ` +
  "request; bind() of the SDK's createRequestStateCodec gets only the method and the caller, so put the rest into the payload.";

const OTHER_ARGUMENTS = 'other arguments';

/** Sends the state and answers of an honest call in another call, those of its first round and of its last. */
async function moveState(
  context: CheckContext,
  options: SessionOptions,
  what: string,
  own: SessionOptions = {},
) {
  const { finding, first } = await controlOther(context, options, what);
  return finding ?? moveEachRound(context, { options, what, first }, own);
}

async function moveEachRound(context: CheckContext, move: Move, own: SessionOptions = {}) {
  let moved = abstain('no round carries state');
  for (const round of context.roundsWithState) {
    const session = context.move(await context.untilRound(round, own), move.options);
    moved = await moveStateOfRound(context, round, session, move);
    if (moved.verdict !== 'pass') break;
  }
  return moved;
}

interface Move {
  readonly options: SessionOptions;
  readonly what: string;
  /** What a first request of the other call asks. */
  readonly first: Asked;
}

/**
 * A server that does not take the state rejects it, or begins again: it asks what a first request asks, or what it answers
 * to nonsense. Finishes the other call if it proceeds: consent to the first call then approved the other.
 */
async function moveStateOfRound(context: CheckContext, round: number, session: Session, move: Move) {
  const { what } = move;
  let { outcome, effect } = await context.measure(session, () => session.retry());
  const isRejected =
    saysNo(outcome) || outcome.kind === 'failed' || (await context.beginsAgain(round, outcome, move));
  if (!effect && outcome.kind === 'asked' && !isRejected && what === OTHER_ARGUMENTS)
    ({ outcome, effect } = await context.measure(session, () => session.finish()));
  requireAnswer(outcome);
  if (effect || !isRejected)
    return warn(
      `The state of one call was accepted with ${what}: ${outcome}${effect ? ', and the probe changed' : ''}.`,
      session,
      { holds: true },
    );
  const unseen =
    outcome.kind === 'completed' && effectsUnseen(context, `it ${outcome}, as for nonsense state`);
  return unseen || pass(`rejected: ${outcome}`, session);
}

/** The control: an honest call of the other kind has to be served and to ask. `finding`: the reason if it does not. */
async function controlOther(context: CheckContext, options: SessionOptions, what: string) {
  const control = context.session(options);
  const asked = await control.first();
  const first = control.asked;
  if (asked.kind === 'completed')
    return { first, finding: notApplicable(`${what} asks nothing, so state has no use there`) };
  // Another operation may ask questions without given answers, so it is enough that it asks.
  const end = options.operation && what !== OTHER_ARGUMENTS ? asked : await control.finish();
  if (saysNo(end) && what === OTHER_ARGUMENTS && context.inputs.otherArguments === undefined)
    return {
      first,
      finding: notGiven(`--other-arguments was not given, and the server rejects generated ones: ${end}`),
    };
  if (end.kind === 'failed' || saysNo(end))
    return { first, finding: abstain(`an honest call with ${what} failed: ${end}`, control) };
  return { first, finding: undefined };
}

/** A server may compare the principal only where a header came. It may also serve nobody, so there is no control. */
async function moveToNobody(context: CheckContext) {
  const { headers = {}, otherHeaders = {} } = context.inputs.address;
  if (!Object.keys(otherHeaders).some((name) => name in headers)) return undefined;
  const options = { principal: 'nobody' } as const;
  const control = context.session(options);
  await control.first();
  const moved = await moveEachRound(context, { options, what: 'no credentials', first: control.asked });
  return moved.verdict === 'pass' ? undefined : moved;
}

/** A server may bind only some arguments. Changes each alone. */
async function moveEachArgument(context: CheckContext) {
  const { inputs, operation, otherArguments } = context;
  const { arguments: own } = operation;
  const schema = context.schemaOf(operation);
  for (const name of Object.keys(own).slice(0, MAX_ARGUMENTS)) {
    const making = inWorker('otherArgumentsFrom', schema, own, inputs.seed, [name]);
    const changed = await unlessUnreadable(making);
    if (changed === undefined || canonical(changed) === canonical(otherArguments)) continue;
    const options = { operation: { ...operation, arguments: changed } };
    const moved = await moveState(context, options, OTHER_ARGUMENTS);
    if (isFault(moved)) return moved;
  }
  return undefined;
}

const MAX_ARGUMENTS = 4;

/** Sends the state to the first call of the other operation that is served and asks. */
async function moveToOther(context: CheckContext) {
  let finding = abstain('no call of the other operation could be made');
  for (const { operation, own } of context.otherCalls) {
    const first = { operation: { ...context.inputs.operation, arguments: own } };
    // The operation itself may reject arguments that fit both.
    finding = await moveState(context, { operation }, nameOf(operation), first).catch(abstainFor);
    if (finding.verdict === 'pass' && canonical(operation.arguments) !== canonical(own))
      return pass(
        `${finding.actual} (with other arguments, as none were found that fit both)`,
        finding.session,
      );
    if (finding.verdict === 'pass' || isFault(finding)) break;
  }
  return finding;
}

/** The other tool has to ask too: without a question, state has no use there. */
const otherTool = defineCheck('state.other-tool', 'S', {
  expected: 'The state of one tool is rejected by another.',
  clause: REQUEST,
  remedy: bind('the name of the operation'),
  needs: ['state', 'other-tool'],
  calls: (rounds) => 3 * rounds + 4,
  run: moveToOther,
});

/** The longest wait of a check, in seconds. */
export const MAX_WAIT = 600;

const BY_CALL =
  'It remembers used states, but not their call. Make one id in the first round, carry it in every state of ' +
  'the call, and remember that id. In TypeScript: single use in @mrtr/core.';

async function afterTheEnd(context: CheckContext) {
  const session = await context.untilRound(0);
  const earlier = session.honestRetry();
  const end = await session.finish();
  if (end.kind !== 'completed') return abstain(`the call did not end: ${end}`);
  const { outcome, effect } = await presentRetry(context, session, earlier);
  requireAnswer(outcome);
  if (effect)
    return (context.oneTime ? fail : advise)(
      'The state of round 1 worked again after the end, with a second effect.',
      session,
    );
  if (outcome.kind !== 'completed') return pass(outcome, session);
  const unseen = effectsUnseen(context, `the call ${outcome} again`);
  return unseen ?? pass('answered as before, without an effect', session);
}

/** Rolls back before the end. Undefined if the server ends the call at the earlier state. */
async function besideTheEnd(context: CheckContext) {
  const session = await context.untilRound(0);
  const earlier = session.honestRetry();
  await session.retry();
  const later = session.honestRetry();
  const back = await rollBack(context, session, earlier, [later.requestState]);
  if (back.kind !== 'asked') return undefined;
  const branch = session.honestRetry();
  await session.retry(later);
  const end = await session.finish();
  if (end.kind !== 'completed') return undefined;
  const again = await presentRetry(context, session, branch);
  if (!again.effect) return undefined;
  return (context.oneTime ? fail : advise)(
    'The state of round 1, presented a second time before the end, led to a second effect after it.',
    session,
  );
}

async function presentRetry(context: CheckContext, session: Session, retry: Retry) {
  const known = session.turns.map(({ request }) => request.params.requestState);
  const first = await context.measure(session, () => rollBack(context, session, retry, known));
  // A call that begins again has a consent of its own.
  if (first.effect || (await context.beginsAgain(0, first.outcome))) return first;
  return context.measure(session, () => session.finish());
}

/** Longer than a second, the unit of most expiry times. */
const NEXT_SECOND_MS = 1100;

/**
 * Sends an earlier retry. A codec without a random part makes the same text within a second, which a ledger of texts
 * catches by luck. So a text seen before is sent again in the next second.
 */
async function rollBack(context: CheckContext, session: Session, retry: Retry, known: readonly unknown[]) {
  const outcome = await session.retry(retry);
  if (outcome.kind !== 'asked' || !known.includes(session.state)) return outcome;
  await context.pause(NEXT_SECOND_MS);
  return session.retry(retry);
}

export const BINDING = [
  /** The control is a finished honest call with the other arguments. Without it a rejection proves nothing. */
  defineCheck('state.other-arguments', 'S', {
    expected: 'The state of a call is rejected with other arguments.',
    clause: REQUEST,
    remedy: bind('a digest of the arguments'),
    needs: ['state', 'other-arguments'],
    calls: (rounds) => (MAX_ARGUMENTS + 1) * (3 * rounds + 4),
    run: async (context) => {
      const all = await moveState(context, { operation: context.otherOperation }, OTHER_ARGUMENTS);
      return all.verdict === 'pass' ? ((await moveEachArgument(context)) ?? all) : all;
    },
  }),
  otherTool,
  /** Sends it to another method: a binding to the name alone does not tell methods apart. */
  defineCheck('state.other-method', 'S', {
    ...otherTool,
    expected: 'The state of one method is rejected by another, as that of a tool by a prompt.',
    remedy: bind('the method'),
    needs: ['state', 'other-method'],
  }),
  /** The second principal first makes an honest call, to prove its headers good. */
  defineCheck('state.other-principal', 'S', {
    expected: 'The state of one principal is rejected when another presents it, or nobody.',
    clause: bound('the authenticated principal, rejecting state presented by a different principal;'),
    remedy:
      'Put the authenticated subject into the state and compare it when it comes back. In TypeScript: `principal` in the ' +
      "policy of @mrtr/core, or bind() of the SDK's createRequestStateCodec.",
    needs: ['state', 'other-principal'],
    calls: (rounds) => 5 * rounds + 7,
    run: async (context) => {
      const other = await moveState(context, { principal: 'other' }, 'another principal');
      return other.verdict === 'pass' ? ((await moveToNobody(context)) ?? other) : other;
    },
  }),
  /** Sends earlier state again. Before the end it is a changed answer; with or after the end it must have no second effect. */
  defineCheck('state.rolled-back', 'M', {
    expected: 'After the end of a call, the state of an earlier round has no second effect.',
    clause: SINGLE_USE,
    remedy:
      'Keep a ledger of finished calls that all instances share, and reject every state of such a call. In TypeScript: ' +
      'single use in @mrtr/core, with a ledger of @mrtr/ledgers.',
    needs: ['state', 'two-rounds'],
    calls: (rounds) => 6 * rounds + 10,
    run: async (context) => {
      const after = await afterTheEnd(context);
      const found = after.verdict === 'pass' ? ((await besideTheEnd(context)) ?? after) : after;
      const remembers = isFault(found) && (await remembersUsed(context));
      return remembers ? { ...found, remedy: BY_CALL } : found;
    },
  }),
  /** Waits a second longer than the time to live, because servers round. */
  defineCheck('state.expired', 'S', {
    expected: 'The state is rejected when its time to live is over.',
    clause: bound('a short expiry (TTL), rejecting state presented after it lapses;'),
    remedy:
      'Put the time of expiry into the sealed state, and compare it when the state comes back. In TypeScript: `ttlSeconds` ' +
      "of @mrtr/core, or of the SDK's createRequestStateCodec.",
    needs: ['state', 'ttl'],
    run: async (context) => {
      const ttl = context.inputs.ttlSeconds ?? 0;
      if (ttl > MAX_WAIT) return notGiven(`--ttl is longer than the limit of ${MAX_WAIT} s`);
      const round = context.lastRoundWithState;
      const session = await context.untilRound(round);
      await context.pause(ttl * 1000 + 1100);
      const { outcome, effect } = await context.measure(session, () => session.retry());
      const judged = context.judge(round, outcome, true);
      requireAnswer(outcome);
      const plain = judged !== 'rejected' && (await context.likeNonsense(round, outcome));
      if (effect || (judged !== 'rejected' && !plain))
        return warn(`A state was accepted ${ttl + 1} s after it was sent: ${outcome}.`, session);
      context.rejections.push({ label: 'an expired state', session, outcome });
      return pass(`rejected after ${ttl + 1} s: ${outcome}`, session);
    },
  }),
];
