/** Any script in shape H. */
import { runInOrder, type Write } from '@mrtr/options-contract';
import { type LinearStore, linear } from '@mrtr/shapes/linear';

export const writeOn =
  (store: LinearStore): Write =>
  (script) =>
    linear((_input: object, ctx) => runInOrder(script, ctx), { store });
