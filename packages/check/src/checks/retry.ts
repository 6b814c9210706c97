/** One approval, sent more than once. */
import {
  abstain,
  advise,
  type CheckParts,
  cite,
  defineCheck,
  type Finding,
  fail,
  isFault,
  pass,
} from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { isYesOrNo } from '../observations/consents.ts';
import { describeChange, type Reading, UNCOUNTED } from '../observations/effects.ts';
import { isForm, propertiesOf, schemaOf } from '../observations/forms.ts';
import { inWorker, unlessUnreadable } from '../sandbox.ts';
import { type Retry, requireAnswer, type Session } from '../session/session.ts';
import type { Instance } from '../target/instance.ts';
import { mapMembers, objectAt } from '../wire/json.ts';
import { NOTHING_FILLED_IN } from './refusal.ts';

export const SINGLE_USE = cite(
  'basic/patterns/mrtr, server requirements 5, warning',
  'Servers for which a given requestState must be consumed at most once (e.g., one-time redemptions) MUST enforce ' +
    'that invariant server-side.',
);

export const LEDGER =
  'Make one id in the first round, carry it in the state through every round, and claim it before the effect, in a single ' +
  'atomic step where all instances see it, as by a unique key in your database. In TypeScript: single use in @mrtr/core ' +
  'with a ledger of @mrtr/ledgers.';

/** Makes a check that one approval has one effect. */
export const singleUseCheck = (id: string, { needs = [], ...parts }: SingleUseParts) =>
  defineCheck(id, 'M', { clause: SINGLE_USE, remedy: LEDGER, ...parts, needs: ['effects', ...needs] });

type SingleUseParts = Pick<CheckParts, 'expected' | 'calls' | 'run'> &
  Partial<Pick<CheckParts, 'needs' | 'remedy'>>;

interface Second {
  readonly before: Reading;
  readonly after: Reading;
  readonly effect: boolean | undefined;
  readonly words: string;
}

/** Remedies for a server that already gives a repeated retry one effect, when the two come in turn. */
const LEDGERS = {
  atomic:
    'It remembers used approvals, and looks before it writes. Claim the approval in a single atomic step before the effect ' +
    '(a unique key, an insert that fails). In TypeScript: a ledger of @mrtr/ledgers.',
  shared:
    'It remembers used approvals, and each instance its own. Keep them where all instances and versions see them, and claim ' +
    'them there in a single atomic step, as by a unique key in your database. In TypeScript: a ledger of @mrtr/ledgers.',
  early:
    'It remembers used approvals, and this one too late: claim it before the effect, and keep the first result with it, so ' +
    'that a client whose connection broke gets that.',
} as const;

/** Whether a repeated retry has no second effect on the same instance. Tried once in a run. */
export const remembersUsed = (context: CheckContext) =>
  context.once('a used approval', async () => {
    const session = await context.untilRound();
    return (await presentTwice(context, session, 'The same retry')).verdict === 'pass';
  });

async function onceOnly(
  context: CheckContext,
  session: Session,
  second: Second,
  lack?: keyof typeof LEDGERS,
) {
  const { effects, oneTime } = context;
  const { before, after, effect, words } = second;
  if (!effect) return pass(`${words} had no second effect`, session);
  session.markRepeated();
  const count = effects.countOfLast(before, after);
  const times =
    count === undefined || count % 1 !== 0 || count < 2 ? '' : ` (${count} effects for one approval)`;
  const hint = oneTime ? '' : ' With --one-time this is a fail.';
  const remedy = lack && (await remembersUsed(context)) ? LEDGERS[lack] : undefined;
  const judge = oneTime ? fail : advise;
  return judge(`${words} had a second effect${times}: ${describeChange(before, after)}.${hint}`, session, {
    remedy,
  });
}

/** Sends the last retry of an honest call twice, the second time to the instance `there`, or in place of it `again`. */
export async function presentTwice(
  context: CheckContext,
  session: Session,
  what: string,
  there: Instance = session.instance,
  again?: Retry,
): Promise<Finding> {
  const last = session.honestRetry();
  const isElsewhere = there !== session.instance;
  const before = await context.effects.read();
  const first = await session.retry(last);
  if (first.kind !== 'completed') return abstain(`the honest retry did not complete: ${first}`);
  await context.effects.since(before, session);
  session.instance = there;
  const { outcome, effect } = await context.measure(session, () => session.retry(again ?? last));
  if (outcome.kind === 'failed' && !effect) return abstain(outcome);
  const words = `${what} (${outcome})`;
  const { last: after } = context.effects;
  return onceOnly(context, session, { before, after, effect, words }, isElsewhere ? 'shared' : undefined);
}

/** A record of used approvals may be full, and drop the oldest. Repeats the retry that ended the first call of the run. */
async function presentFirst(context: CheckContext) {
  const ended = context.log.find(({ turn, session }) => session && turn.outcome.kind === 'completed');
  if (!ended?.session) return undefined;
  const session = ended.session.fork();
  session.instance = context.fleet.first;
  const again = () => session.send(ended.turn.request.params);
  const { outcome, before, effect } = await context.measure(session, again);
  const words = `The retry that ended the first call of this run (${outcome})`;
  const { last: after } = context.effects;
  return effect ? onceOnly(context, session, { before, after, effect, words }) : undefined;
}

async function prepareApproval(context: CheckContext) {
  const session = await context.untilRound();
  return { session, last: session.honestRetry(), before: await context.effects.read() };
}

const AT_ONCE = 10;

/** Sends retries at once: the honest one, and in turn with it `other`. */
async function presentAtOnce(context: CheckContext, other: (session: Session) => Promise<Retry>) {
  const { session, last, before } = await prepareApproval(context);
  const second = await other(session);
  const retries = Array.from({ length: AT_ONCE }, (_, at) => session.retry(at % 2 === 0 ? last : second));
  const outcomes = await Promise.all(retries);
  const completed = outcomes.filter(({ kind }) => kind === 'completed').length;
  if (completed === 0) return abstain(`none completed: ${outcomes[0]}`);
  const after = await context.effects.read();
  const effect = isSecond(context, before, after) ?? (completed > 1 ? undefined : false);
  if (effect === undefined) return abstain(UNCOUNTED);
  await context.effects.since(before, session);
  const words = `${AT_ONCE} retries at once (${completed} completed)`;
  return onceOnly(context, session, { before, after, effect, words }, 'atomic');
}

const UNASKED = { 'mrtr-check': NOTHING_FILLED_IN };

/** The honest retry with another choice or text in one form. Where a form takes a bare yes, with an answer that nobody asked for. */
async function answerOtherwise({ inputs }: CheckContext, session: Session) {
  const answers = session.answers();
  for (const [key, request] of Object.entries(session.asked).filter(([, one]) => isForm(one))) {
    const properties = mapMembers(propertiesOf(request), (field) => (isYesOrNo(field) ? undefined : field));
    const schema = { ...schemaOf(request), properties };
    const given = objectAt(objectAt(answers, key), 'content');
    const content = await unlessUnreadable(inWorker('otherArgumentsFrom', schema, given, inputs.seed));
    if (content) return { inputResponses: { ...answers, [key]: { action: 'accept', content } } };
  }
  return { inputResponses: { ...answers, ...UNASKED } };
}

/** A question that is asked again has two states. Answers both. */
async function presentBoth(context: CheckContext) {
  const session = await context.untilRound();
  const first = session.honestRetry();
  const again = await session.retry({ inputResponses: undefined });
  if (again.kind !== 'asked') return abstain('it is not asked again');
  return presentTwice(
    context,
    session,
    'The state from before the question was asked again',
    undefined,
    first,
  );
}

/** Whether the probe shows more than one effect. Undefined if it holds no single number. */
function isSecond({ effects }: CheckContext, before: Reading, after: Reading) {
  const count = effects.countOfLast(before, after);
  return count === undefined ? undefined : count > 1.5;
}

/** Waits between readings, until the server has finished the cut retry. Most finish soon; a busy one takes longer. */
const AFTER_THE_CUT_MS = [150, 200, 400, 800];

/** Waits for the effect of the cut retry, and reads it. A server that stops with the connection has none. */
async function readAfterTheCut(context: CheckContext, before: Reading) {
  let now = before;
  for (const ms of AFTER_THE_CUT_MS) {
    await context.pause(ms);
    now = await context.effects.read();
    if (now !== before) break;
  }
  return now;
}

export const RETRY = [
  /** Sends the two in turn, so that the second finds the record of the first. */
  singleUseCheck('retry.twice', {
    expected: 'The last retry, presented twice, has one effect.',
    calls: (rounds) => rounds + 3,
    run: async (context) => {
      const session = await context.untilRound();
      const twice = await presentTwice(context, session, 'The same retry again');
      return twice.verdict === 'pass' ? ((await presentFirst(context)) ?? twice) : twice;
    },
  }),
  /** Sends them at once: a ledger that reads before it writes lets several through. */
  singleUseCheck('retry.concurrent', {
    expected: `The last retry, presented ${AT_ONCE} times at once, has one effect.`,
    calls: (rounds) => rounds + AT_ONCE,
    run: (context) => presentAtOnce(context, async (session) => session.honestRetry()),
  }),
  /** A client that loses its connection does not know whether its retry was served, so it sends it again. */
  singleUseCheck('retry.lost-response', {
    expected: 'A retry whose response was lost can be sent again, and has one effect.',
    remedy: `${LEDGER} Answer the repeated retry with the first result, so that a client whose connection broke learns it.`,
    needs: ['http'],
    calls: (rounds) => rounds + 2,
    run: async (context) => {
      const { session, last, before } = await prepareApproval(context);
      await session.retry(last, { cut: true });
      // Wait for the first to end: retry.concurrent covers two at once.
      const between = await readAfterTheCut(context, before);
      await context.effects.since(before, session);
      const again = await session.retry(last);
      requireAnswer(again);
      const after = await context.effects.read();
      await context.effects.since(between, session);
      const words = `The retry after a lost response (${again})`;
      const effect = isSecond(context, before, after) ?? (between !== before && after !== between);
      return onceOnly(context, session, { before, after, effect, words }, 'early');
    },
  }),
  /** A record of the state and its answers together takes another answer for another approval. */
  singleUseCheck('retry.other-answers', {
    expected: 'One state has one effect, also with two different answers, in turn and at once.',
    remedy:
      'Claim the id of the call alone, and not a digest of the retry: one question has one answer, and each other one is ' +
      `rejected. ${LEDGER}`,
    calls: (rounds) => 3 * rounds + AT_ONCE + 5,
    run: async (context) => {
      const session = await context.untilRound();
      const other = await answerOtherwise(context, session);
      const inTurn = await presentTwice(
        context,
        session,
        'The same state with another answer',
        undefined,
        other,
      );
      if (inTurn.verdict !== 'pass') return inTurn;
      const askedAgain = await presentBoth(context);
      if (isFault(askedAgain)) return askedAgain;
      const atOnce = await presentAtOnce(context, (one) => answerOtherwise(context, one));
      return atOnce.verdict === 'could-not-run' ? inTurn : atOnce;
    },
  }),
];
