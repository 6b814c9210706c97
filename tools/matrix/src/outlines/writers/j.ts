/** Any outline in shape J: every step by its key, from the top in each round. */

import { journal } from '@mrtr/shapes/journal';
import { runInOrder, type Write } from '../outline.ts';

export const write: Write = (outline) =>
  journal((_input: object, ctx) => runInOrder(outline, ctx), { asks: outline.asks });
