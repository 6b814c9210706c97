import { isCall } from './layout.ts';
import {
  CLIENT,
  type Happening,
  type Transcript,
  type TranscriptEvent,
  type WireMessage,
} from './transcript.ts';
import { isQuestion, objectIn } from './wording.ts';

/** The numbers of one conversation. */
export interface Tally {
  /** The client's requests of the call: one, and one more for each answered `input_required`. */
  readonly rounds: number;
  /** How often the function with the effects ran: the handler, the end step or the body. */
  readonly entries: number;
  readonly questions: number;
  /** Questions on the open stream of the call, as to old clients. */
  readonly liveAsks: number;
  readonly effects: Readonly<Record<string, number>>;
  /** Characters of `requestState` in each `input_required` result, 0 without one. */
  readonly stateBytes: readonly number[];
  /** The maximum of handlers that all instances had parked in memory at a question. */
  readonly framesHeld: number;
}

/** Counts the events of a transcript. */
export function tally({ events }: Pick<Transcript, 'events'>): Tally {
  const effects: Record<string, number> = {};
  for (const { name } of eventsOf('effect', events)) effects[name] = (effects[name] ?? 0) + 1;
  const results = messagesFrom('server', events).map((message) => objectIn(message, 'result'));
  return {
    rounds: messagesFrom('client', events).filter(isCall).length,
    entries: eventsOf('entry', events).filter(({ part }) => part !== 'step' && part !== 'resolver').length,
    questions: eventsOf('question', events).length,
    liveAsks: messagesFrom('server', events).filter(isQuestion).length,
    effects,
    stateBytes: results
      .filter(({ resultType }) => resultType === 'input_required')
      .map(({ requestState }) => (typeof requestState === 'string' ? requestState.length : 0)),
    framesHeld: Math.max(0, ...events.map((event) => ('framesHeld' in event ? event.framesHeld : 0))),
  };
}

/** The events of one kind. */
export const eventsOf = <Kind extends Happening['kind']>(
  kind: Kind,
  events: readonly TranscriptEvent[],
): Extract<TranscriptEvent, { kind: Kind }>[] =>
  events.filter((event): event is Extract<TranscriptEvent, { kind: Kind }> => event.kind === kind);

/** The messages that one side sent and that arrived. */
export const messagesFrom = (
  side: 'client' | 'server',
  events: readonly TranscriptEvent[],
): readonly WireMessage[] =>
  eventsOf('message', events)
    .filter(({ from, lost, again }) => (from === CLIENT) === (side === 'client') && !lost && !again)
    .map(({ message }) => message);
