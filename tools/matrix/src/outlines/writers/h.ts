/** Any outline in shape H, on the store that the instance keeps. */
import type { LinearStore } from '@mrtr/shapes/linear';
import { linear } from '@mrtr/shapes/linear';
import { runInOrder, type Write } from '../outline.ts';

export const write: Write = (outline, kept) =>
  linear((_input: object, ctx) => runInOrder(outline, ctx), {
    store: kept as LinearStore,
    asks: outline.asks,
  });
