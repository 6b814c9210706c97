/** `@mrtr/demo-prompt-and-resource`: the same prompt and the same resource, in four shapes, ready to be run. */

import type { Subject } from '@mrtr/comparison/calls';
import { protectedServer } from '@mrtr/core';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { quarterly } from './quarterly-report.ts';
import { releaseNotes } from './release-notes.ts';
import { f, h, i, j } from './shapes.ts';

/** The four shapes, by their letters. */
export const SHAPES: readonly Subject[] = [
  subject('f', 'once', f),
  subject('h', 'linear', h),
  subject('i', 'resolve', i),
  subject('j', 'journal', j),
];

type Shape = (store: ContinuationStore) => ReturnType<typeof f | typeof h | typeof i | typeof j>;

function subject(id: string, title: string, shape: Shape): Subject {
  return {
    id,
    title,
    create({ state }) {
      const store = new ContinuationStore();
      const { prompt, resource } = shape(store);
      return {
        server: () => {
          const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, state);
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
