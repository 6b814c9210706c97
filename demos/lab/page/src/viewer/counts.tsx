/** The numbers of a conversation, as they are at one step. */
import { CLIENT, eventsOf, isCall, objectIn, rowsOf, tally } from '@mrtr/harness/transcript';
import type { Conversation } from '../../../src/protocol.ts';

type Count = readonly [number: string, name: string, bad: boolean];

interface CountsProps {
  readonly conversation: Conversation;
  readonly events: Conversation['events'];
}

export function Counts({ conversation, events }: CountsProps) {
  // Who looks from outside sees no world, and no entry of a handler.
  const isInside = conversation.participants.some(({ kind }) => kind === 'world');
  return (
    <ul class="counts" aria-label="Counts at this step">
      {(isInside ? fromInside(events) : fromOutside(events)).map(([number, name, bad]) => (
        <li key={name} class={bad ? 'bad' : ''}>
          <b>{number}</b> {name}
        </li>
      ))}
    </ul>
  );
}

function fromInside(events: Conversation['events']): readonly Count[] {
  const { rounds, entries, questions, effects, framesHeld } = tally({ events });
  const [audits, writes] = [effects.audit ?? 0, effects.write ?? 0];
  const twice = (name: string) =>
    rowsOf({ events, participants: [] }).some(
      ({ event, tone }) => event.kind === 'effect' && event.name === name && tone === 'error',
    );
  return [
    [`${audits}`, audits === 1 ? 'audit entry' : 'audit entries', twice('audit')],
    [`${writes}`, writes === 1 ? 'write' : 'writes', twice('write')],
    [`${entries}×`, 'entered', false],
    [`${rounds}`, rounds === 1 ? 'round' : 'rounds', false],
    [`${questions}`, 'asked', false],
    [stateOf(events), 'state', false],
    [`${framesHeld}`, 'held', false],
  ];
}

function fromOutside(events: Conversation['events']): readonly Count[] {
  const requests = eventsOf('message', events).filter(({ message }) => isCall(message)).length;
  const changes = eventsOf('effect', events).length;
  return [
    [`${requests}`, requests === 1 ? 'request' : 'requests', false],
    [stateOf(events), 'state', false],
    [`${changes}`, changes === 1 ? 'change seen' : 'changes seen', false],
  ];
}

function stateOf(events: Conversation['events']): string {
  const sizes = eventsOf('message', events).flatMap(({ message, from }) => {
    const { requestState } = objectIn(message, 'result');
    return from !== CLIENT && typeof requestState === 'string' ? [requestState.length] : [];
  });
  return sizes.length > 0 ? `${sizes.at(-1)} B` : '–';
}
