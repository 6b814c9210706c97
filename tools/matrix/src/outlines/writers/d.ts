/** Any outline in shape D: two handlers. */
import { askLive } from '@mrtr/core';
import { byEra } from '../../../../../demos/option-d-by-era/by-era.ts';
import { writeGuardFirst, writeReading } from '../guard-first.ts';
import type { Write } from '../outline.ts';

export const write: Write = (outline) =>
  byEra({ modern: writeGuardFirst(outline) as never, legacy: writeReading(outline, askLive) as never });
