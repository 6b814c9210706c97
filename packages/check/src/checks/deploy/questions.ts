/** Questions that the two versions ask differently, so that an answer to one does not answer the other. */
import { fail, notApplicable, pass } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { isForm, textOfQuestion } from '../../observations/forms.ts';
import { inWorker } from '../../sandbox.ts';
import type { Session } from '../../session/session.ts';
import { type JsonObject, objectAt } from '../../wire/json.ts';
import { comparable, describeOutcome } from '../../wire/outcome.ts';
import { VALIDATE } from '../answer.ts';
import { ASK_AGAIN } from '../answer-missing.ts';
import {
  type Crossed,
  type Crossing,
  cross,
  crossEach,
  crossingCalls,
  deployCheck,
  type Version,
  whereOf,
} from './versions.ts';

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

const reworded = deployCheck('deploy.reworded', 'A', {
  expected:
    'A question that the other version words differently is asked again: its answer was to the old text.',
  clause: ASK_AGAIN,
  remedy:
    'Store with each answer the question that it answers, and ask again if that changed: our shapes once, ToolBuilder and ' +
    'resolve do. If the new text means something else, give the question a new key.',
  calls: (rounds) => 2 * crossingCalls(rounds),
  run: async (context, crossings) => {
    const keys = rewordedKeys(crossings[0]);
    if (keys.length === 0) return notApplicable('no question is asked by both versions in different words');
    for (const crossed of await crossEach(context, crossings)) {
      const { answered, askedAgain, from, to, session } = crossed;
      const taken = keys.find((key) => answered.includes(key) && !askedAgain.includes(key));
      if (taken === undefined || !(await answersCounted(context, crossed))) continue;
      return fail(
        `${whereOf(crossed)}: the call was finished. '${taken}' was answered as ${messageOf(from, taken)}, and the ` +
          `${to.name} asks ${messageOf(to, taken)}.`,
        session,
      );
    }
    return pass(`${keys.join(', ')}: asked again, or refused`);
  },
});

interface Unfit {
  readonly key: string;
  readonly round: number;
  readonly content: JsonObject;
}

/** For each form, a content that one version allows and the other does not, if there is one. */
function unfits({ answerer, inputs: { seed } }: CheckContext, { from, to }: Crossing) {
  return from.facts.rounds.flatMap(({ requests }, round) =>
    Object.entries(requests).flatMap(([key, request]) => {
      const other = to.facts.requestOf(key);
      if (!isForm(request) || !isForm(other)) return [];
      const [schema, now] = [request, other].map((one) => objectAt(one, 'params').requestedSchema);
      const { content: honest } = answerer.responses({ [key]: request })[key] as JsonObject;
      const content = inWorker.contentThatFitsOnly({ schema, other: now, honest, seed });
      return content === null ? [] : [{ key, round, content }];
    }),
  );
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

const unfit = deployCheck('deploy.unfit', 'S', {
  expected:
    'An answer that one version allowed does not count on the other if its question does not allow it.',
  clause: VALIDATE,
  remedy:
    'Validate every answer with the schema of the running code, also answers stored in the state: our shapes do, and in a ' +
    'plain handler readState(ctx, schema).',
  needs: ['form'],
  calls: (rounds) => 2 * rounds * (rounds + 3) + rounds + 1,
  run: async (context, crossings) => {
    const tried: string[] = [];
    for (const crossing of crossings)
      for (const one of unfits(context, crossing)) {
        tried.push(`${one.key} ${JSON.stringify(one.content)}`);
        for (const crossed of await present(context, crossing, one)) {
          if (crossed.askedAgain.includes(one.key) || !(await answersCounted(context, crossed))) continue;
          return fail(
            `${whereOf(crossed)}. '${one.key}' was answered with ${JSON.stringify(one.content)}, which the ${crossing.to.name} does ` +
              `not allow, and the call was finished all the same: ${describeOutcome(crossed.end)}.`,
            crossed.session,
          );
        }
      }
    if (tried.length === 0)
      return notApplicable('each version allows every answer that the other one allows');
    return pass(`${tried.join(', ')}: asked again, or refused`);
  },
});

export const QUESTIONS = [reworded, unfit];
