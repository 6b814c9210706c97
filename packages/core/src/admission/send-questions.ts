/** Sends the questions that a handler returns: checks that they may go out, and seals them with its state. */
import {
  type InputRequests,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
} from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/events.ts';
import { InvalidDefinition, RoundsExceeded } from '../errors.ts';
import { onOldWire } from '../questions/form-choices.ts';
import { questionDigest } from '../questions/question.ts';
import { withReason } from '../questions/unfit-answer.ts';
import { endCall } from '../results.ts';
import { MAX_KEY_BYTES, sealState } from '../state/codec.ts';
import { isModern, MRTR_REVISION } from '../wire/call.ts';
import { capabilitiesOf } from '../wire/input-kind.ts';
import { markForShim } from '../wire/no-handler.ts';
import type { AdmittedCall } from './admitted-call.ts';
import { describeUnaskable, findAskProblem, STATE_NOT_KEPT, warnOfWastedEffects } from './ask-problem.ts';
import { notesOf } from './shape-notes.ts';

/** Ends the call if the questions of `result` may not go out. Otherwise returns the result with sealed state. */
export function sendQuestions(call: AdmittedCall, result: InputRequiredResult) {
  try {
    return checkAndSeal(call, result, result.inputRequests ?? {});
  } catch (error) {
    // An author's mistake, for example a label that a token cannot carry. The client must not read the message.
    if (error instanceof ProtocolError) throw error;
    return rejectQuestion(call, error);
  }
}

function checkAndSeal(call: AdmittedCall, result: InputRequiredResult, requests: InputRequests): unknown {
  const isOld = !isModern(call.revision);
  const { routingLabel, effects = [], lacked } = notesOf(result);
  if (lacked) {
    if (isOld) return endCall(call, describeUnaskable(lacked));
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: capabilitiesOf(lacked) });
  }
  const { requestState } = result;
  if (requestState === undefined && Object.keys(requests).length === 0)
    return rejectQuestion(call, new InvalidDefinition(NO_QUESTION), ASKS_NOTHING);
  requireSealable(requestState, requests);
  const keys = Object.keys(requests);
  const end = keys.map((key) => call.reads.unfit.get(key)?.end).find((why) => why !== undefined);
  if (end !== undefined) {
    call.facts.rejections.count({ reason: 'author', detail: 'answers_unfit' }, call);
    return endCall(call, end);
  }
  const problem = findAskProblem(call, requests, { requestState, routingLabel });
  if (problem?.kind === 'rounds') {
    call.facts.rejections.count({ reason: 'author', detail: 'rounds_exceeded' }, call);
    call.report(new RoundsExceeded(problem.message));
    return endCall(call, problem.message);
  }
  if (problem?.cause) return rejectQuestion(call, problem.cause, problem.message);
  const wasted = problem && warnOfWastedEffects(effects, requests, call);
  if (wasted) call.report(wasted);
  if (isOld && problem) return endCall(call, problem.message);
  if (isOld && call.legacy === 'degrade') return endCall(call, NEEDS_MODERN);
  const sealed = {
    ...result,
    ...(result.inputRequests && { inputRequests: shownRequests(call, requests) }),
    requestState: seal(call, requestState, requests, routingLabel),
  };
  // On 2026-07-28 the SDK rejects undeclared questions with -32021 and the missing capabilities. Seal the state anyway,
  // in case the SDK reads the capabilities differently and lets it out.
  if (problem) return sealed;
  publish('mrtr:ask', { call: call.id, target: call.target, keys, live: false });
  return sealed;
}

function seal(
  call: AdmittedCall,
  payload: string | undefined,
  requests: InputRequests,
  routingLabel: string | undefined,
) {
  const { id: callId, method, target, round, version } = call;
  const asked = new Map<string, string>();
  const timesAsked = new Map<string, number>();
  const timesUnfit = new Map<string, number>();
  for (const [key, request] of Object.entries(requests)) {
    asked.set(key, questionDigest(request));
    timesAsked.set(key, (call.timesAsked.get(key) ?? 0) + 1);
    const unfit = call.reads.unfit.get(key)?.times ?? call.timesUnfit.get(key);
    if (unfit !== undefined) timesUnfit.set(key, unfit);
  }
  const { hasGivenUp } = call;
  const content = { callId, round, asked, timesAsked, timesUnfit, hasGivenUp, payload, version };
  const { binding, policy } = call.facts;
  const { now, ttlSeconds, keys } = policy;
  const token = sealState(content, { binding, issuedAt: now(), ttlSeconds, routingLabel }, keys.ring[0]);
  publish('mrtr:state', { phase: 'sealed', method, target, bytes: token.length, call: callId });
  return token;
}

const rejectQuestion = (call: AdmittedCall, cause: unknown, why = STATE_NOT_KEPT): never =>
  call.facts.rejections.rejectRequest({ reason: 'author', detail: 'invalid_question' }, call, cause, why);

/**
 * The questions as they go out: with the reason why the last answer did not fit, and in an old client's spelling. The sealed
 * digest is that of the author's words, so an answer to the longer text counts for them.
 */
function shownRequests({ reads, revision }: AdmittedCall, requests: InputRequests): InputRequests {
  const shown = Object.entries(requests).map(([key, request]) => {
    const unfit = reads.unfit.get(key);
    const told = unfit ? withReason(request, unfit) : request;
    return [key, isModern(revision) ? told : markForShim(onOldWire(told))];
  });
  return Object.fromEntries(shown);
}

/** @throws InvalidDefinition for state or questions that a token cannot carry. */
function requireSealable(requestState: unknown, requests: InputRequests) {
  if (requestState !== undefined && (typeof requestState !== 'string' || !requestState.isWellFormed()))
    throw new InvalidDefinition('requestState has to be well-formed text. Return JSON.stringify(...) of it.');
  for (const [key, request] of Object.entries(requests)) {
    if (typeof request !== 'object' || request === null)
      throw new InvalidDefinition(
        `'${key}' is not an input request. Return ask({ … }) instead of building the result by hand.`,
      );
    if (!key.isWellFormed() || Buffer.byteLength(key) > MAX_KEY_BYTES)
      throw new InvalidDefinition(
        `A question's key has to be well-formed text of at most ${MAX_KEY_BYTES} bytes.`,
      );
  }
}

const NEEDS_MODERN = `This needs a client that makes several rounds (MCP ${MRTR_REVISION}).`;
const ASKS_NOTHING = 'The server asks nothing';
const NO_QUESTION =
  'A result is input_required, but has no question and no state. Return ask({ … }), or a complete result.';
