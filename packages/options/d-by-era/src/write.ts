/** Any script in shape D: two handlers. */
import { askLive } from '@mrtr/core';
import { type Write, writeGuardFirst } from '@mrtr/options-contract';
import { byEra } from '@mrtr/shapes/by-era';

export const write: Write = (script) =>
  byEra({ modern: writeGuardFirst(script) as never, legacy: writeGuardFirst(script, askLive) as never });
