/** Any script in shape C: one handler, which branches where it asks. */
import { askLive, readAnswer, speaksMrtr } from '@mrtr/core';
import { type Write, writeGuardFirst } from '@mrtr/options-contract';

export const write: Write = (script) =>
  writeGuardFirst(script, (ctx, ...asked) =>
    speaksMrtr(ctx) ? readAnswer(ctx, ...asked) : askLive(ctx, ...asked),
  );
