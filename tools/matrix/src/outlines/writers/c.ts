/** Any outline in shape C: one handler, which branches where it asks. */
import { askLive, readAnswer, speaksMrtr } from '@mrtr/core';
import { writeReading } from '../guard-first.ts';
import type { Write } from '../outline.ts';

export const write: Write = (outline) =>
  writeReading(outline, (ctx, ...asked) =>
    speaksMrtr(ctx) ? readAnswer(ctx, ...asked) : askLive(ctx, ...asked),
  );
