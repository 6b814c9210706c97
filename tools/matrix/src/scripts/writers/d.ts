/** Any script in shape D: two handlers. */
import { askLive } from '@mrtr/core';
import { byEra } from '../../../../../demos/option-d-by-era/by-era.ts';
import { writeGuardFirst, writeReading } from '../guard-first.ts';
import type { Write } from '../script.ts';

export const write: Write = (script) =>
  byEra({ modern: writeGuardFirst(script) as never, legacy: writeReading(script, askLive) as never });
