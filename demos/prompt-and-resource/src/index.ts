/** `@mrtr/demo-prompt-and-resource`: the same prompt and the same resource, in four shapes, ready to be run. */

import { type Subject, standalone } from '@mrtr/matrix';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { createServer as journal } from './journal.ts';
import { createServer as linear } from './linear.ts';
import { createServer as once } from './once.ts';
import { createServer as resolve } from './resolve.ts';

/** The four shapes, by their letters. */
export const SHAPES: readonly Subject[] = [
  standalone('f', 'once', once),
  {
    id: 'h',
    title: 'linear',
    create({ state }) {
      const store = new ContinuationStore();
      return {
        server: () => linear(state, store),
        framesHeld: () => store.parked,
        close: () => store.close(),
      };
    },
  },
  standalone('i', 'resolve', resolve),
  standalone('j', 'journal', journal),
];
