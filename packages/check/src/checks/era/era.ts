/** Clients of 2025-11-25: that of the published v1 SDK, and one without a session. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ShownQuestion } from '@mrtr/harness';
import { advise, defineCheck, pass } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { formText, isForm } from '../../observations/forms.ts';
import { Evidence } from '../../session/evidence.ts';
import type { Likeness } from '../../session/likeness.ts';
import type { Evident } from '../../session/session.ts';
import { METHOD, paramsOf } from '../../target/target.ts';
import { canonical, isObject, type JsonObject, objectAt } from '../../wire/json.ts';
import { comparable, describeOutcome, outcomeOf, type ReplyOutcome } from '../../wire/outcome.ts';

const CLAUSE = {
  at: '2026-07-28, basic/versioning, compatibility matrix',
  words:
    'A server that supports only modern versions SHOULD name the protocol versions it supports in any error it returns ' +
    'to an initialize request. Legacy client, dual-era server: Works. The server answers initialize and serves the client ' +
    'according to the negotiated legacy revision.',
};

const REMEDY =
  "Serve both eras from one handler: the SDK's legacy shim turns an input_required into requests on a live session; " +
  'where there is none, answer an isError result that says why.';

interface Seen {
  readonly evidence: Evidence;
  readonly questions: readonly ShownQuestion[];
  readonly result?: JsonObject;
  readonly error?: string;
  readonly late?: boolean;
}

function faultIn(context: CheckContext, seen: Seen, outcome: ReplyOutcome | undefined) {
  if (seen.late) return `The old client waited, and got ${seen.error}.`;
  // The old SDK reports this result as a malformed prompt or resource.
  if (seen.evidence.hasReceived(isAsking))
    return 'The old client was sent an input_required result, which it does not know.';
  if (outcome === undefined) return seen.error ? undefined : 'The old client got an error without a word.';
  if (outcome.kind === 'tool-error') return undefined;
  const shown = seen.questions.map((params) => formText({ params }));
  if (!sameForms(shown, context.facts.forms)) return describeDifference(shown, modernForms(context));
  if (context.facts.final.like(comparable(outcome)) === false)
    return `The old client's call ended otherwise: ${describeOutcome(outcome)}.`;
  return undefined;
}

/** Describes the difference by the messages, or by the whole forms if the messages are equal. */
function describeDifference(shown: readonly string[], modern: readonly string[]) {
  const [old, recent] = [shown, modern].map((forms) =>
    forms.map((text) => JSON.stringify(JSON.parse(text)[0])),
  );
  const [asked, other] = `${old}` === `${recent}` ? [shown, modern] : [old, recent];
  const list = (texts: readonly string[] = []) => texts.join(' and ') || 'nothing';
  return `The old client was asked ${list(asked)}, and the new one ${list(other)}.`;
}

/** Whether the forms are the same in any order: questions of one round may come at once or in turn. */
function sameForms(shown: readonly string[], forms: readonly Likeness[]) {
  const left = [...forms];
  const unknown = shown.filter((text) => {
    const at = left.findIndex((likeness) => likeness.like(text) !== false);
    return at < 0 || left.splice(at, 1).length === 0;
  });
  return unknown.length === 0 && left.length === 0;
}

const modernForms = ({ facts }: CheckContext) =>
  facts.questions
    .map(({ request }) => request)
    .filter(isForm)
    .map(formText);

async function oldCall(context: CheckContext) {
  const { fleet, inputs, limit } = context;
  const { kind, name } = inputs.operation;
  const questions: ShownQuestion[] = [];
  const evidence = new Evidence(`${METHOD[kind]} ${name}`, 'legacy');
  const user = (question: ShownQuestion) => {
    questions.push(question);
    return oldAnswer(context, question) as never;
  };
  // Load the old SDK only here: it takes as long as everything else together.
  const { legacyClient } = await import('@mrtr/harness');
  let client: Client | undefined;
  const transport = await fleet.first.openSession();
  const giveUp = () => void transport.close();
  limit.over.addEventListener('abort', giveUp);
  try {
    client = await legacyClient(transport as Transport, {
      user,
      roots: [],
      model: () =>
        ({ role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'mrtr-check' }) as never,
    });
    recordTransport(transport, evidence);
    return { evidence, questions, result: await callOperation(client, context) };
  } catch (error) {
    const { message, code } = error as { message: string; code?: number };
    return { evidence, questions, error: message.replace(PREFIX, ''), late: code === TIMEOUT };
  } finally {
    limit.over.removeEventListener('abort', giveUp);
    await client?.close().catch(() => {});
    await transport.close().catch(() => {});
  }
}

const isAsking = ({ result }: JsonObject) => isObject(result) && result.resultType === 'input_required';

/** Records every message of a connected transport. */
function recordTransport(transport: Transport, evidence: Evidence) {
  const { onmessage } = transport;
  const send = transport.send.bind(transport);
  transport.onmessage = (message, extra) => {
    evidence.recordReceived('server', message);
    onmessage?.(message, extra);
  };
  transport.send = (message, options) => {
    evidence.recordSent('server', message as unknown as JsonObject);
    return send(message, options);
  };
}

/** The v1 SDK's prefix to every error message of a server. */
const PREFIX = /^MCP error -?\d+: */;

/** The v1 SDK's code for a timeout. */
const TIMEOUT = -32001;

async function callOperation(client: Client, context: CheckContext) {
  const { limit } = context;
  const { operation } = context.session();
  const params = paramsOf(operation) as never;
  const { timeoutMs: timeout, over: signal } = limit;
  const options = { timeout, maxTotalTimeout: timeout, signal };
  if (operation.kind === 'tool') return client.callTool(params, undefined, options) as Promise<JsonObject>;
  if (operation.kind === 'prompt') return client.getPrompt(params, options);
  return client.readResource(params, options);
}

/** The honest answer to a question without a key, found by its text or its form. */
function oldAnswer({ facts, answerer }: CheckContext, { message, requestedSchema }: ShownQuestion) {
  const known = facts.questions;
  const sameWords = known.find(({ request }) => objectAt(request, 'params').message === message);
  const sameForm = known.find(
    ({ request }) => canonical(objectAt(request, 'params').requestedSchema) === canonical(requestedSchema),
  );
  const { key, request } = sameWords ?? sameForm ?? known[0] ?? { key: '', request: {} };
  return answerer.responses({ [key]: request })[key];
}

export const ERA = [
  /** Uses the real client of the published v1 SDK: a new client that imitates it would prove nothing. */
  defineCheck('era.same', 'A', {
    expected: 'A client of 2025-11-25 gets the same questions and the same end, or an error that says why.',
    clause: CLAUSE,
    remedy: REMEDY,
    needs: ['form'],
    run: async (context) => {
      const seen = await oldCall(context);
      const outcome = seen.result && outcomeOf({ messages: [], ms: 0, result: seen.result });
      const session: Evident = { evidence: seen.evidence, last: outcome };
      const fault = faultIn(context, seen, outcome);
      if (fault !== undefined) return advise(fault, session);
      if (outcome?.kind === 'completed')
        return pass(`the same ${seen.questions.length} question(s), and the same end`, session);
      return pass(`an error that says why: ${outcome ? describeOutcome(outcome) : seen.error}`, session);
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
      const { operation } = context.inputs;
      const message = { method: METHOD[operation.kind], params: paramsOf(operation) };
      const evidence = new Evidence(`${message.method} ${operation.name}`, 'legacy');
      evidence.recordSent('server', message);
      const reply = await context.fleet.first.sendAsOld(message);
      evidence.recordReply('server', reply);
      const outcome = outcomeOf(reply);
      const session: Evident = { evidence, last: outcome };
      if (outcome.kind === 'asked')
        return advise('It was sent an input_required result, which it does not know.', session);
      if (outcome.kind === 'failed') return advise(`It got ${describeOutcome(outcome)}.`, session);
      return pass(describeOutcome(outcome), session);
    },
  }),
];
