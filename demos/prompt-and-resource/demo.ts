/** `pnpm demo prompt-and-resource`: a prompt and a resource, in four shapes. */
import type { Subject } from '@mrtr/comparison/calls';
import { type Demo, replies } from '@mrtr/comparison/demo';
import { protectedServer } from '@mrtr/core';
import { type LogicalCall, scriptedUser } from '@mrtr/harness';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { quarterly } from './quarterly-report.ts';
import { releaseNotes } from './release-notes.ts';
import { f, h, i, j } from './shapes.ts';

/** Both calls. */
export const CALLS: readonly LogicalCall[] = [
  { method: 'prompts/get', params: { name: 'release_notes', arguments: { version: '2.0' } } },
  { method: 'resources/read', params: { uri: 'report://quarterly' } },
];

const AUDIENCE = replies('developers', 'customers', 'robots');
const CURRENCY = replies('EUR', 'USD', 'gold');

export const demo: Demo = {
  subjects: [
    subject('f', 'once', f),
    subject('h', 'linear', h),
    subject('i', 'resolve', i),
    subject('j', 'journal', j),
  ],
  calls: (answer) =>
    CALLS.map((call) => ({
      call,
      user: scriptedUser({ audience: AUDIENCE[answer], currency: CURRENCY[answer] }),
    })),
};

type Shape = (store: ContinuationStore) => ReturnType<typeof f | typeof h | typeof i | typeof j>;

function subject(id: string, title: string, shape: Shape): Subject {
  return {
    id,
    title,
    create({ policy }) {
      const store = new ContinuationStore();
      const { prompt, resource } = shape(store);
      return {
        server: () => {
          const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);
          server.registerPrompt('release_notes', releaseNotes, prompt);
          server.registerResource('quarterly', 'report://quarterly', quarterly, resource);
          return server;
        },
        framesHeld: () => store.parked,
        close: () => store.close(),
      };
    },
  };
}
