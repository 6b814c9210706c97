/** The numbers of a conversation at one step. */
import type { Conversation } from '../../../src/protocol.ts';
import { countsAt } from './model.ts';

/** Whether a number is not zero; zeros are left out. */
const isSome = ([number]: readonly [string, ...unknown[]]): boolean => !/^(?:0|–)/.test(number);

interface CountsProps {
  readonly conversation: Conversation;
  readonly events: Conversation['events'];
}

export const Counts = ({ conversation, events }: CountsProps) => (
  <ul class="counts" aria-label="Counts at this step">
    {countsAt(conversation, events)
      .filter(isSome)
      .map(([number, name, bad]) => (
        <li key={name} class={bad ? 'bad' : ''}>
          <b>{number}</b> {name}
        </li>
      ))}
  </ul>
);
