/** A deploy between two rounds: a call begins on one version and continues on the other. */
import { abstain, advise, cite, type Finding, fail, notApplicable, pass, warn } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { describeChange, UNCOUNTED } from '../../observations/effects.ts';
import { isForm, schemaOf, textOfQuestion } from '../../observations/forms.ts';
import { inWorker } from '../../sandbox.ts';
import type { Session, Turn } from '../../session/session.ts';
import { type JsonObject, objectAt } from '../../wire/json.ts';
import { comparable, saysNo, textOf } from '../../wire/outcome.ts';
import { ASK_AGAIN, VALIDATE } from '../answer.ts';
import { STATELESS } from '../instance.ts';
import { LEDGER, presentTwice, SINGLE_USE } from '../retry.ts';
import {
  type Crossed,
  type Crossing,
  cross,
  crossEach,
  crossingCalls,
  deployCheck,
  passAll,
  type Version,
  whereOf,
} from './versions.ts';

/** Judges the end of a call that crossed, and describes it. */
function endOf({ end, askedAgain, from, to }: Crossed) {
  const badly = (words: string) => ({ well: false, words });
  if (end.kind === 'failed') return badly(`there was no answer (${end})`);
  if (end.kind === 'asked') return badly(`the call did not end, and was asked again and again (${end})`);
  if (saysNo(end)) return badly(`the call was rejected, with ${end}`);
  if (to.facts.endsLike(end) === false && from.facts.endsLike(end) === false)
    return badly(`the call ended as no honest one does on either version (${end})`);
  const again = askedAgain.length === 0 ? '' : `asked ${askedAgain.join(', ')} again, and `;
  return { well: true, words: `the call was ${again}finished` };
}

/** The finding is advice: a rejection is allowed, and right after an incompatible change. */
async function finishCrossed(context: CheckContext, crossing: Crossing) {
  const all = await crossEach(context, [crossing]);
  const ends = all.map((crossed) => ({ crossed, ...endOf(crossed) }));
  const [bad] = ends.filter(({ well }) => !well);
  if (!bad)
    return pass(ends.map(({ crossed, words }) => `at question ${crossed.question} ${words}`).join('; '));
  const others = ends
    .filter((one) => one !== bad)
    .map(({ crossed, words }) =>
      words === bad.words
        ? ` Question ${crossed.question} came to the same.`
        : ` At question ${crossed.question} ${words}.`,
    );
  return advise(`${whereOf(bad.crossed)}: ${bad.words}.${others.join('')}`, bad.crossed.session);
}

const DEPLOYING =
  'Keep the keys of questions, add new ones at the end, and read older state with defaults (docs/deploying.md). Give both ' +
  'versions the same key for their state. If you intend to reject such calls, as after a change of `version`, accept the finding.';

/** Matches the message of a crash. The server should have rejected instead. */
const BROKE =
  /\b(?:Type|Reference|Range|Syntax|Key|Attribute|Zod)Error\b|\bNoneType\b|NullPointer|nil pointer|Cannot (?:read|set) propert|is not (?:a function|iterable)|^\s+at .+:\d+|^Traceback|panicked at|Unexpected token|Unexpected end of JSON/m;

const isSilent = ({ outcome, reply }: Turn) => outcome.kind === 'failed' && reply.status === undefined;

function accidentIn(turn: Turn) {
  const { outcome } = turn;
  const { status = 200 } = turn.reply;
  const words = `${outcome}`;
  if (isSilent(turn)) return words;
  if (outcome.kind === 'failed' || status >= 500) return `HTTP ${status}, ${words}`;
  if (outcome.kind === 'error' && outcome.error.code === -32603) return words;
  const text =
    outcome.kind === 'error'
      ? `${outcome.error.message} ${JSON.stringify(outcome.error.data ?? '')}`
      : outcome.kind === 'tool-error'
        ? textOf(outcome.result)
        : '';
  return BROKE.test(text) ? words : undefined;
}

const CROSSED_EFFECTS =
  'Put effects after the last question. If an effect stands before it, keep its record under the same key in both ' +
  'versions. In TypeScript: ctx.once, a step or the journal; change `version` if a key has to change.';

function effectFault(context: CheckContext, crossed: Crossed) {
  const { readings, first, end, from, to, answered } = crossed;
  const early = readings.first !== readings.crossing;
  const again = first.kind === 'asked' ? Object.keys(first.requests) : [];
  const repeats = again.length > 0 && again.every((key) => answered.includes(key) && isAskedOnce(to, key));
  if (early && !context.effects.asking && repeats)
    return `${again.join(', ')} was asked again, and the probe changed before that was answered`;
  if (early && (saysNo(first) || first.kind === 'failed'))
    return `the call came to ${first}, and the probe changed all the same`;
  if (end.kind !== 'completed') return undefined;
  const times = timesOf(context, crossed);
  if (times !== undefined && times > 1.01)
    return `the call had ${times.toFixed(2)} times the effects of a whole call: ${describeChange(readings.before, readings.end)}`;
  const done = [from, to].some(({ facts }) => facts.endsLike(end) === true);
  return done && readings.before === readings.end
    ? 'the call ended like an honest one, and had no effect'
    : undefined;
}

/** Whether a key is used in only one round. Otherwise it does not show that a question is asked again. */
const isAskedOnce = ({ facts }: Version, key: string) =>
  facts.rounds.filter(({ requests }) => Object.hasOwn(requests, key)).length <= 1;

/** The effects of a call, in effects of one whole call on the version that has more of them. */
function timesOf({ effects }: CheckContext, { readings, from, to }: Crossed) {
  const times = [from, to].flatMap(({ unit }) => effects.count(readings.before, readings.end, unit) ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

async function replayRetry(context: CheckContext, { from, to }: Crossing) {
  const last = from.facts.rounds.length - 1;
  if (last < 0) return pass(`the ${from.name} asks nothing`);
  const session = await context.untilRound(last, { instance: from.instance });
  const what = `The approval that was used on the ${from.name}, at the ${to.name}`;
  return presentTwice(context, session, what, to.instance);
}

/** Whether the answers of a call that crossed counted: it completed, and not as after a decline. */
async function answersCounted(context: CheckContext, { end, to, readings }: Crossed) {
  if (end.kind !== 'completed') return false;
  if (context.effects.mode === 'observed') return readings.end !== readings.crossing;
  const session = context.session({ instance: to.instance });
  await session.first();
  const inputResponses = session.refusals('decline');
  const declined = await session.retry({ inputResponses });
  return comparable(declined) !== comparable(end);
}

const rewordedKeys = ({ from, to }: Crossing) =>
  [...from.facts.texts.keys()].filter(
    (key) => to.facts.texts.has(key) && isOtherText(from, to, key) && isOtherText(to, from, key),
  );

/** Whether one version's question reads like none of the other version's questions with its key. */
const isOtherText = ({ facts }: Version, other: Version, key: string) =>
  other.facts.texts.get(key)?.like(textOfQuestion(facts.requestOf(key))) === false;

const messageOf = ({ facts }: Version, key: string) =>
  JSON.stringify(objectAt(facts.requestOf(key), 'params').message ?? '');

interface Unfit {
  readonly key: string;
  readonly round: number;
  readonly content: JsonObject;
}

/** For each form, a content that one version allows and the other does not, if there is one. */
async function unfits({ answerer, inputs: { seed } }: CheckContext, { from, to }: Crossing) {
  const all: Unfit[] = [];
  for (const { round, key, request } of from.facts.questions) {
    const other = to.facts.requestOf(key);
    if (!isForm(request) || !isForm(other)) continue;
    const { content: honest } = answerer.responses({ [key]: request })[key] as JsonObject;
    const [own, there] = [schemaOf(request), schemaOf(other)];
    const content = await inWorker('contentThatFitsOnly', own, there, honest, seed);
    if (content !== null) all.push({ key, round, content });
  }
  return all;
}

/** Sends the content to the other version directly, and also to its own version with the next answer to the other. */
async function present(context: CheckContext, crossing: Crossing, unfit: Unfit) {
  const { key, round, content } = unfit;
  const answer = { action: 'accept', content };
  const changes = (session: Session) => ({ inputResponses: { ...session.answers(), [key]: answer } });
  const atOnce = await cross(context, crossing, { round, changes });
  if (round + 1 >= crossing.from.facts.rounds.length) return [atOnce];
  const begun = await context.untilRound(round, { instance: crossing.from.instance });
  await begun.retry(changes(begun));
  // Another choice may end the call, and then nothing can cross.
  if (begun.last?.kind !== 'asked') return [atOnce];
  return [atOnce, await cross(context, crossing, { round: round + 1, begun })];
}

export const DEPLOY = [
  deployCheck('deploy.survives', 'A', {
    expected: 'A call that began on the old version finishes on the new one, whether or not it asks again.',
    clause: STATELESS,
    remedy: DEPLOYING,
    calls: crossingCalls,
    run: (context, [forth]) => finishCrossed(context, forth),
  }),
  deployCheck('deploy.returns', 'A', {
    expected: 'A call that began on the new version finishes on the old one, as in a rolling deploy.',
    clause: STATELESS,
    remedy:
      'Have the old version accept the state of the new one before the new one is deployed, or replace all instances at ' +
      'once, or expect that some calls are rejected. In TypeScript: `acceptVersions` of @mrtr/core.',
    calls: crossingCalls,
    run: (context, [, back]) => finishCrossed(context, back),
  }),
  deployCheck('deploy.says-why', 'S', {
    expected:
      'State of another version gets a result, a question or an error that says why, and never an accident: no lost ' +
      'connection, no HTTP 5xx, no internal error.',
    clause: cite(
      'basic, messages (JSON-RPC 2.0, response object); 2026-07-28, basic/patterns/mrtr, error handling',
      'When a rpc call is made, the Server MUST reply with a Response. Protocol errors (malformed JSON, invalid schema, ' +
        'internal server errors) SHOULD return a JSON-RPC error response with an appropriate error code and message.',
    ),
    remedy:
      'Check opened state with a schema before the handler reads it, and reject unfit state with -32602, or put a version ' +
      'into the state (docs/deploying.md). In TypeScript: readState() and the `schema` of a step in our shapes.',
    calls: (rounds) => 2 * crossingCalls(rounds),
    run: async (context, crossings) => {
      const all = await crossEach(context, crossings);
      const turns = all.flatMap((crossed) =>
        crossed.turns.map((turn) => ({ crossed, turn, words: accidentIn(turn) })),
      );
      const accidents = turns.filter(({ words }) => words !== undefined);
      const worst = accidents.find(({ turn }) => isSilent(turn)) ?? accidents[0];
      if (!worst) return passAll(all, 'each got an answer that says what happened');
      const { crossed, turn, words } = worst;
      return (isSilent(turn) ? fail : warn)(`${whereOf(crossed)}: ${words}.`, crossed.session);
    },
  }),
  deployCheck('deploy.effect-once', 'M', {
    expected:
      'A call that both versions served has its effect once, and none if it is rejected or asked again.',
    clause: SINGLE_USE,
    remedy: CROSSED_EFFECTS,
    needs: ['effects'],
    calls: (rounds) => 2 * crossingCalls(rounds),
    run: async (context, crossings) => {
      const all = await crossEach(context, crossings);
      for (const crossed of all) {
        const fault = effectFault(context, crossed);
        const words = `${whereOf(crossed)}: ${fault}.`;
        if (!fault) continue;
        return context.oneTime
          ? fail(words, crossed.session)
          : advise(`${words} With --one-time this is a fail.`, crossed.session);
      }
      const uncounted = all.some(
        (one) => one.end.kind === 'completed' && timesOf(context, one) === undefined,
      );
      if (uncounted) return abstain(UNCOUNTED);
      return passAll(all, 'none had an effect twice, or without its answer');
    },
  }),
  /** A client loses its connection during a deploy, and sends its last retry to the other version again. */
  deployCheck('deploy.replay', 'M', {
    expected: 'An approval that was used on one version cannot be used again on the other.',
    clause: SINGLE_USE,
    remedy: LEDGER,
    needs: ['effects'],
    calls: (rounds) => 2 * (rounds + 2) + rounds + 1,
    run: async (context, crossings) => {
      const findings: Finding[] = [];
      for (const crossing of crossings) {
        const finding = await replayRetry(context, crossing);
        if (finding.verdict !== 'pass') return finding;
        findings.push(finding);
      }
      return pass(findings.map(({ actual }) => actual).join('; '));
    },
  }),
  deployCheck('deploy.reworded', 'A', {
    expected:
      'A question that the other version words differently is asked again: its answer was to the old text.',
    clause: ASK_AGAIN,
    remedy:
      'Store with each answer the question that it answers, and ask again if that changed. If the new text means something ' +
      'else, give the question a new key. In TypeScript: our shapes once, ToolBuilder and resolve do.',
    calls: (rounds) => 2 * crossingCalls(rounds),
    run: async (context, crossings) => {
      const keys = rewordedKeys(crossings[0]);
      if (keys.length === 0) return notApplicable('no question is asked by both versions in different words');
      for (const crossed of await crossEach(context, crossings)) {
        const { answered, askedAgain, from, to, session } = crossed;
        const taken = keys.find((key) => answered.includes(key) && !askedAgain.includes(key));
        if (taken === undefined || !(await answersCounted(context, crossed))) continue;
        return advise(
          `${whereOf(crossed)}: the call was finished. '${taken}' was answered as ${messageOf(from, taken)}, and the ` +
            `${to.name} asks ${messageOf(to, taken)}.`,
          session,
        );
      }
      return pass(`${keys.join(', ')}: asked again, or rejected`);
    },
  }),
  deployCheck('deploy.unfit', 'S', {
    expected:
      'An answer that one version allowed does not count on the other if its question does not allow it.',
    clause: VALIDATE,
    remedy:
      'Validate every answer with the schema of the running code, also answers stored in the state. In TypeScript: our ' +
      'shapes do, and in a plain handler readState(ctx, schema).',
    needs: ['form'],
    calls: (rounds) => 2 * rounds * (rounds + 3) + rounds + 1,
    run: async (context, crossings) => {
      const tried: string[] = [];
      for (const crossing of crossings)
        for (const one of await unfits(context, crossing)) {
          tried.push(`${one.key} ${JSON.stringify(one.content)}`);
          for (const crossed of await present(context, crossing, one)) {
            if (crossed.askedAgain.includes(one.key) || !(await answersCounted(context, crossed))) continue;
            return warn(
              `${whereOf(crossed)}. '${one.key}' was answered with ${JSON.stringify(one.content)}, which the ${crossing.to.name} does ` +
                `not allow, and the call was finished all the same: ${crossed.end}.`,
              crossed.session,
            );
          }
        }
      if (tried.length === 0)
        return notApplicable('each version allows every answer that the other one allows');
      return pass(`${tried.join(', ')}: asked again, or rejected`);
    },
  }),
];
