/** Deploys another version of the code while a question is open. */

import type { Change } from '@mrtr/comparison/claims';
import { eventsOf } from '@mrtr/harness/transcript';
import { QUESTION_CHANGES, STEP_CHANGES } from '@mrtr/matrix/deploy/changes';
import { useState } from 'preact/hooks';
import type { SideProps } from './connection.ts';

const GROUPS = [
  ['The question for the size: version 2', QUESTION_CHANGES],
  ['The step that opens the ticket: version 2', STEP_CHANGES],
] as const;

export function Deploy({ side, state, send }: SideProps) {
  const { asked, conversation } = state;
  const [change, setChange] = useState<Change>('reworded');
  const isOver = conversation.end !== undefined;
  const deployed = eventsOf('restart', conversation.events).findLast((one) => one.deployed)?.deployed;
  const runs = deployed !== undefined;
  return (
    <div class="line deploy">
      <label>
        Version 2{' '}
        <select
          aria-label={`Version 2 on the ${side}`}
          value={isOver ? change : (deployed ?? change)}
          disabled={runs && !isOver}
          onChange={(event) => setChange(event.currentTarget.value as Change)}
        >
          {GROUPS.map(([label, changes]) => (
            <optgroup key={label} label={`${label} …`}>
              {Object.entries(changes).map(([id, words]) => (
                <option key={id} value={id}>
                  {words.replaceAll('`', '')}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="primary"
        disabled={!asked || runs}
        onClick={() => send({ do: 'deploy', side, change })}
      >
        Deploy<span class="unseen"> it on the {side}</span>
      </button>
      <span class="quiet">
        {runs && !isOver ? 'Version 2 runs.' : asked ? '' : 'Every call begins on version 1.'}
      </span>
    </div>
  );
}
