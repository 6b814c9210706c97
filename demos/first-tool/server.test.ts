/** The README's first tool, started over stdio and called by clients of both eras. */
import { fileURLToPath } from 'node:url';
import { converse, foreignHosting, scriptedUser } from '@mrtr/harness';
import { eventsOf, resultText } from '@mrtr/harness/transcript';
import { expect, test } from 'vitest';

const args = ['--import', 'tsx', fileURLToPath(new URL('./server.ts', import.meta.url))];
const call = { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'production' } } } as const;

test.each(['modern-only', 'legacy'] as const)(
  'a %s client is asked once, and a yes deploys',
  async (client) => {
    const { events, end } = await converse(
      { client, call, user: scriptedUser({ decision: ['approve'] }) },
      () => foreignHosting({ kind: 'stdio', command: process.execPath, args }),
    );
    expect(resultText(end.result ?? {})).toBe('Deployed to production.');
    expect(eventsOf('question', events)).toMatchObject([{ message: 'Really deploy to “production”?' }]);
  },
);
