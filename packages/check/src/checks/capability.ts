/** A server asks a client only for capabilities that it declares. */
import { asText } from '@mrtr/harness/transcript';
import { abstain, cite, defineCheck, fail, pass } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import type { Session, Turn } from '../session/session.ts';
import { isObject, type JsonObject, objectAt, type Texts } from '../wire/json.ts';
import { nameOfQuestion, type ReplyOutcome } from '../wire/outcome.ts';
import { isServerRequest } from '../wire/reply.ts';

const NEEDED: Texts = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const MISSING = -32021;

async function callWithout(context: CheckContext, capabilities: JsonObject, who: string) {
  const session = context.session({ capabilities });
  let outcome = await session.first();
  for (let round = 0; outcome.kind === 'asked' && round < context.facts.rounds.length + 2; round++) {
    const wrong = findUndeclared(outcome, capabilities);
    if (wrong) return fail(`${who} was sent ${wrong}.`, session);
    outcome = await session.retry();
  }
  return judgeEnd(session, outcome, capabilities, who);
}

function findUndeclared(outcome: ReplyOutcome, capabilities: JsonObject) {
  if (outcome.kind !== 'asked') return undefined;
  for (const [key, request] of Object.entries(outcome.requests)) {
    const name = NEEDED[asText(request.method)] ?? '';
    const declared = capabilities[name];
    const question = nameOfQuestion(key, request);
    if (!isObject(declared)) return `${request.method} (${question}), without having declared '${name}'`;
    const mode = objectAt(request, 'params').mode === 'url' ? 'url' : 'form';
    const covered =
      name !== 'elicitation' || mode in declared || (mode === 'form' && Object.keys(declared).length === 0);
    if (!covered) return `an elicitation in mode '${mode}' (${question}), which it did not declare`;
  }
  return undefined;
}

/** The server does read the capabilities, so the remedy is only about its error. */
const WRONG_ERROR = {
  remedy:
    `The server rightly does not ask, but its error is wrong. Answer with the error ${MISSING}, the missing capabilities ` +
    'in `data.requiredCapabilities`, and over HTTP the status 400. In TypeScript: @mrtr/core does.',
};

/** Judges the end of a call that was not asked: a result is fine, an error has to be the specified one. */
function judgeEnd(session: Session, outcome: ReplyOutcome, capabilities: JsonObject, who: string) {
  const turn = session.lastTurn;
  const sent = turn?.reply.messages.map(({ value }) => value).filter(isServerRequest) ?? [];
  const wrong = sent.find(({ method }) => {
    const name = NEEDED[asText(method)];
    return name !== undefined && !isObject(capabilities[name]);
  });
  if (wrong) return fail(`${who} was sent the request ${asText(wrong.method)}.`, session);
  if (outcome.kind === 'failed')
    return outcome.late ? fail(`${who} got ${outcome}.`, session) : abstain(outcome);
  if (outcome.kind === 'asked') return abstain('the server did not stop asking');
  // A server of 2025-11-25 has no error of its own for this.
  const fault = turn && !session.instance.isOld ? errorFault(turn) : undefined;
  return fault ? fail(`${who} got ${fault}.`, session, WRONG_ERROR) : pass(outcome, session);
}

function errorFault({ outcome, reply: { status = 400, contentType = '' } }: Turn) {
  if (outcome.kind === 'rejected') return `HTTP ${status} without a JSON-RPC error`;
  if (outcome.kind !== 'error') return undefined;
  const { code, data } = outcome.error;
  if (code !== MISSING) return `${outcome}, and not ${MISSING}`;
  if (Object.keys(objectAt(data, 'requiredCapabilities')).length === 0)
    return `${MISSING} without data.requiredCapabilities`;
  return status === 400 || contentType.includes('text/event-stream')
    ? undefined
    : `${MISSING} with HTTP status ${status}, and not 400`;
}

const CLAUSE = cite(
  'basic, _meta; basic/patterns/mrtr, server requirements 7',
  'Servers MUST NOT send an inputRequests that the client has not declared support for. If processing a request ' +
    'requires a capability the client did not include …, the server MUST return a ' +
    'MissingRequiredClientCapabilityError (-32021) whose data.requiredCapabilities lists the missing capabilities. ' +
    'On HTTP, the response status MUST be 400 Bad Request.',
);

export const CAPABILITY = [
  defineCheck('capability.mode', 'M', {
    expected: 'A client that supports only forms gets no URL, and one that supports only URLs gets no form.',
    clause: cite(
      'client/elicitation, capabilities',
      'Servers MUST NOT send elicitation requests with modes that are not supported by the client.',
    ),
    remedy:
      'Before you ask, read `elicitation.form` and `elicitation.url` of what the client declared; an empty object means forms.',
    needs: ['elicitation'],
    calls: (rounds) => rounds + 2,
    run: async (context) => {
      const others = { sampling: {}, roots: {} };
      const form = await callWithout(
        context,
        { ...others, elicitation: {} },
        'A client that shows forms alone',
      );
      if (form.verdict !== 'pass') return form;
      return callWithout(context, { ...others, elicitation: { url: {} } }, 'A client that opens URLs alone');
    },
  }),
  defineCheck('capability.undeclared', 'M', {
    expected:
      'A client without capabilities is not asked: it gets -32021, a default or an error that says why, without a hang.',
    clause: CLAUSE,
    remedy:
      'Before you ask, read what the client declared. In TypeScript: `canAsk` of @mrtr/core, or `fallback` of a question, ' +
      'which is its default.',
    calls: () => 1,
    run: (context) => callWithout(context, {}, 'A client without capabilities'),
  }),
];
