/** Decides whether questions may go out. */

import type { InputRequests } from '@modelcontextprotocol/server';
import { CannotAsk, InvalidDefinition, StateTooLarge } from '../errors.ts';
import { invalidLabelError, isRoutingLabel, tokenLength } from '../state/codec.ts';
import type { Call } from '../wire/call.ts';
import { type InputKind, inputKindOf } from '../wire/input-kind.ts';

/** Why questions may not go out. */
export interface AskProblem {
  /** `unaskable`: the client cannot be asked for this kind of input. `label`: a token cannot carry the routing label. */
  readonly kind: 'rounds' | 'questions' | 'size' | 'label' | 'unaskable';
  /** For the client. */
  readonly message: string;
  /** The author's mistake, for the operator. */
  readonly cause?: Error;
}

/** The members of a call that {@link findAskProblem} reads. */
type AskingCall = Pick<Call, 'round' | 'limits' | 'askable' | 'version'> & Partial<Pick<Call, 'timesAsked'>>;

/**
 * The reason why `requests` may not go out in this round, or undefined if they may. A shape that parks its handler
 * calls this before it parks; the boundary calls it for every result.
 */
export function findAskProblem(
  call: AskingCall,
  requests: InputRequests,
  {
    requestState: payload,
    routingLabel,
  }: { requestState?: string | undefined; routingLabel?: string | undefined } = {},
): AskProblem | undefined {
  const { round, limits, askable, version } = call;
  if (round > limits.rounds) {
    const rounds = `${limits.rounds} round${limits.rounds === 1 ? '' : 's'}`;
    const message = `This call still needs input after ${rounds}${describeRepeats(call, requests)}. Start it again.`;
    return { kind: 'rounds', message };
  }
  const keys = Object.keys(requests);
  if (keys.length > limits.questions) {
    const cause = new InvalidDefinition(
      `One round asks ${keys.length} questions; the limit is ${limits.questions}. Ask for several fields in one form, or spread ` +
        'the questions over rounds.',
    );
    return { kind: 'questions', message: 'The server asks too many questions at once', cause };
  }
  if (routingLabel !== undefined && !isRoutingLabel(routingLabel))
    return { kind: 'label', message: STATE_NOT_KEPT, cause: invalidLabelError() };
  const bytes = tokenLength(keys, { payload, version }, routingLabel);
  if (bytes > limits.stateBytes)
    return { kind: 'size', message: STATE_NOT_KEPT, cause: new StateTooLarge(bytes, limits.stateBytes) };
  const [lacked] = lackedKinds(requests, askable);
  return lacked && { kind: 'unaskable', message: describeUnaskable([lacked]) };
}

/** The kinds of input of `requests` that are not among `askable`. */
export const lackedKinds = (requests: InputRequests, askable: readonly InputKind[]): InputKind[] =>
  Object.values(requests)
    .flatMap((request) => inputKindOf(request) ?? [])
    .filter((kind) => !askable.includes(kind));

/** The message for an old client that cannot be asked for `kinds`. */
export const describeUnaskable = (kinds: readonly InputKind[]) =>
  `This needs a client that can be asked (${kinds.join(', ')}), on a connection that can carry the question.`;

/**
 * The operator's warning that `effects` ran for nothing, because the client cannot be asked `requests`. Undefined
 * without effects.
 */
export function warnOfWastedEffects(
  effects: readonly string[],
  requests: InputRequests,
  { method, target, askable }: Pick<Call, 'method' | 'target' | 'askable'>,
): CannotAsk | undefined {
  if (effects.length === 0) return undefined;
  const lacked = new Set(lackedKinds(requests, askable));
  return new CannotAsk(
    `${method} ${target} ended because its client cannot be asked, after these effects had run: ${quoteAll(effects)}. ` +
      `Declare asks: [${quoteAll([...lacked])}] where the handler is made: such a client is then rejected before the ` +
      'handler is entered.',
  );
}

const quoteAll = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ');

/** Lists the questions that were asked repeatedly: they point to the author's mistake. */
function describeRepeats({ timesAsked }: AskingCall, requests: InputRequests) {
  const often = Object.keys(requests)
    .map((key) => [key, timesAsked?.get(key) ?? 0] as const)
    .filter(([, times]) => times > 1)
    .map(([key, times]) => `'${key}' ${times} times`);
  return often.length > 0 ? `. It asked ${often.join(' and ')}` : '';
}

/** The client's message when its state cannot be kept. The reason goes to the operator. */
export const STATE_NOT_KEPT = 'The server cannot keep the state of this call';
