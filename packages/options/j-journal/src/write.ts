/** Any script in shape J: every step by its key, from the top in each round. */
import { runInOrder, type Write } from '@mrtr/options-contract';
import { journal } from '@mrtr/shapes/journal';

export const write: Write = (script) => journal((_input: object, ctx) => runInOrder(script, ctx));
