/** Clients of 2025-11-25: that of the published v1 SDK, and one without a session. */
import { advise, cite, defineCheck, pass } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { formText, isForm } from '../../observations/forms.ts';
import type { Likeness } from '../../session/likeness.ts';
import { Session } from '../../session/session.ts';
import type { Channel } from '../../wire/channel.ts';
import { canonical, type JsonObject, mapMembers, objectAt } from '../../wire/json.ts';
import { type Asked, type ReplyOutcome, saysNo } from '../../wire/outcome.ts';

const CLAUSE = cite(
  'basic/versioning, compatibility matrix',
  'A server that supports only modern versions SHOULD name the protocol versions it supports in any error it returns ' +
    'to an initialize request. Legacy client, dual-era server: Works. The server answers initialize and serves the client ' +
    'according to the negotiated legacy revision.',
);

const REMEDY =
  'Let one handler serve clients of both revisions. If the client has a session, send each question as a request on it. If ' +
  "it has none, return an isError result that says why. In TypeScript: the SDK's legacy shim does.";

function faultIn({ facts }: CheckContext, { turns, questions }: Session, end: ReplyOutcome) {
  if (end.kind === 'failed' && end.late) return `The old client waited, and got ${end.reason}.`;
  if (turns.some(({ reply }) => reply.messages.some(({ value }) => isAsking(value))))
    return 'The old client was sent an input_required result, which it does not know.';
  if (end.kind === 'error' && end.error.message === '') return 'The old client got an error without a word.';
  if (saysNo(end) || end.kind === 'failed') return undefined;
  const [shown, modern] = [questions, facts.rounds].map((rounds) =>
    rounds.flatMap(({ requests }) => Object.values(requests).filter(isForm).map(formText)),
  );
  if (!sameForms(shown, facts.forms)) return describeDifference(shown, modern);
  if (facts.endsLike(end) === false) return `The old client's call ended otherwise: ${end}.`;
  return undefined;
}

/** Describes the difference by the messages, or by the whole forms if the messages are equal. */
function describeDifference(shown: readonly string[] = [], modern: readonly string[] = []) {
  const [old, recent] = [shown, modern].map((forms) =>
    forms.map((text) => JSON.stringify(JSON.parse(text)[0])),
  );
  const [asked, other] = `${old}` === `${recent}` ? [shown, modern] : [old, recent];
  const list = (texts: readonly string[] = []) => texts.join(' and ') || 'nothing';
  return `The old client was asked ${list(asked)}, and the new one ${list(other)}.`;
}

/** Whether the forms are the same in any order: questions of one round may come at once or in turn. */
function sameForms(shown: readonly string[] = [], forms: readonly Likeness[] = []) {
  const left = [...forms];
  const unknown = shown.filter((text) => {
    const at = left.findIndex((likeness) => likeness.like(text) !== false);
    return at < 0 || left.splice(at, 1).length === 0;
  });
  return unknown.length === 0 && left.length === 0;
}

/** Begins a call as an old client, which answers as the honest calls did. The checks of the wire do not read its messages. */
function beginAsOld(context: CheckContext, old: Channel) {
  const { fleet, schemaOf } = context;
  const { operation } = context.session();
  const instance = { ...fleet.first, isOld: true, channel: () => old };
  const responses = (requests: Asked) => mapMembers(requests, (request) => answerFor(context, request));
  const answerer = { ...context.answerer, responses };
  return new Session({ instance, operation, answerer, schemaOf, record: () => {} });
}

const isAsking = (message: unknown) => objectAt(message, 'result').resultType === 'input_required';

/** The honest answer to a question without a key, found by its text or its form. */
function answerFor({ facts, answerer }: CheckContext, request: JsonObject) {
  const { message, requestedSchema } = objectAt(request, 'params');
  const known = facts.questions.map((one) => ({ ...one, params: objectAt(one.request, 'params') }));
  const found =
    known.find(({ params }) => params.message === message) ??
    known.find(({ params }) => canonical(params.requestedSchema) === canonical(requestedSchema)) ??
    known[0];
  return found && answerer.responses({ [found.key]: found.request })[found.key];
}

export const ERA = [
  /** Uses the real client of the published v1 SDK: a new client that imitates it would prove nothing. */
  defineCheck('era.same', 'A', {
    expected: 'A client of 2025-11-25 gets the same questions and the same end, or an error that says why.',
    clause: CLAUSE,
    remedy: REMEDY,
    needs: ['form'],
    run: async (context) => {
      const old = await context.fleet.first.oldChannel();
      const session = beginAsOld(context, old);
      const end = await session.finish().finally(old.close);
      const fault = faultIn(context, session, end);
      if (fault) return advise(fault, session);
      if (end.kind === 'completed')
        return pass(`the same ${session.questions.length} question(s), and the same end`, session);
      return pass(`an error that says why: ${end}`, session);
    },
  }),
  defineCheck('era.stateless', 'A', {
    expected:
      'A client of 2025-11-25 without a session gets a result or an error that says why, without a hang.',
    clause: CLAUSE,
    remedy: REMEDY,
    needs: ['http'],
    calls: () => 1,
    run: async (context) => {
      const session = beginAsOld(context, { send: context.fleet.first.sendAsOld });
      const outcome = await session.first();
      if (outcome.kind === 'asked')
        return advise('It was sent an input_required result, which it does not know.', session);
      if (outcome.kind === 'failed') return advise(`It got ${outcome}.`, session);
      return pass(outcome, session);
    },
  }),
];
