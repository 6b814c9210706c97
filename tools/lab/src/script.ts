/**
 * Scripts of what a person does on one side of the lab. `play.ts` plays them in real processes, and records them: the
 * lessons, and the situations of the measured table. The page imports this too, so do not import Node modules.
 */
import type { Change } from '@mrtr/comparison/claims';
import type { Fault, Reply } from './commands.ts';
import type { InstanceId, SetUp } from './set-up.ts';

/**
 * What happens to the latest state on its way: a bit is flipped, words in a plain one are replaced, or the latest state of
 * the call before is sent in its place.
 */
type StateChange = 'flip' | 'earlier' | readonly [string, string];

/** An action. After a call and an answer, the next action waits for the next question. */
export type Action =
  /** Default: the arguments of the lab's own call. */
  | { readonly do: 'call'; readonly arguments?: Readonly<Record<string, string | number>> }
  /** A text is an acceptance, with the text in the form's first field. */
  | { readonly do: 'answer'; readonly reply: Reply | string }
  | { readonly do: 'fault'; readonly fault: Omit<Fault, 'state'>; readonly state?: StateChange }
  | { readonly do: 'kill' | 'restart'; readonly instance: InstanceId }
  | { readonly do: 'deploy'; readonly change: Change };

export interface Script {
  /** The name of its recording, such as `b.two`. */
  readonly id: string;
  readonly about: string;
  readonly setUp: SetUp;
  readonly actions: readonly Action[];
}

export const CALL: Action = { do: 'call' };
export const DECLINE = { action: 'decline' } as const;

export const answer = (reply: Reply | string): Action => ({ do: 'answer', reply });
export const kill = (instance: InstanceId): Action => ({ do: 'kill', instance });
export const deploy = (change: Change): Action => ({ do: 'deploy', change });
export const fault = (given: Partial<Fault>, state?: StateChange): Action => ({
  do: 'fault',
  fault: { deliver: 'once', ...given },
  ...(state && { state }),
});

export const ONE = { instances: 'one' } as const;
export const ITEM = { tool: 'work-item' } as const;
