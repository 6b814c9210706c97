/** Any script in shape J: every step by its key, from the top in each round. */

import { journal } from '@mrtr/shapes/journal';
import { runInOrder, type Write } from '../script.ts';

export const write: Write = (script) =>
  journal((_input: object, ctx) => runInOrder(script, ctx), { asks: script.asks });
