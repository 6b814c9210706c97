/** `@mrtr/demo-sampling-and-roots`: the same tool in two shapes, ready to be run. */
import { type Subject, standalone } from '@mrtr/matrix';
import { createServer as journal } from './journal.ts';
import { createServer as resolve } from './resolve.ts';

/** The two shapes, by their letters. */
export const SHAPES: readonly Subject[] = [
  standalone('i', 'resolve', resolve),
  standalone('j', 'journal', journal),
];
