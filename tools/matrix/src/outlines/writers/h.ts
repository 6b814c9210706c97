/** Any outline in shape H, on the instance's store. */
import { type LinearStore, linear } from '@mrtr/shapes/linear';
import { runInOrder, type Write } from '../outline.ts';

export const write: Write = (outline, store) =>
  linear((_input: object, ctx) => runInOrder(outline, ctx), {
    store: store as LinearStore,
    asks: outline.asks,
  });
