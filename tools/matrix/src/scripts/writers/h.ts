/** Any script in shape H, on the store that the instance keeps. */
import type { LinearStore } from '@mrtr/shapes/linear';
import { linear } from '@mrtr/shapes/linear';
import { runInOrder, type Write } from '../script.ts';

export const write: Write = (script, kept) =>
  linear((_input: object, ctx) => runInOrder(script, ctx), {
    store: kept as LinearStore,
    asks: script.asks,
  });
