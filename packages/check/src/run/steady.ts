/** Tests whether a probe is reliable: it shows each effect at once, and nothing else. */
import type { CheckContext } from '../judging/context.ts';
import { clip, SOON_MS } from '../observations/effects.ts';
import { honestCall } from './prepare.ts';

/** Longer than a second, to notice a probe that shows a clock. In milliseconds. */
const A_WHILE_MS = 1200;

/** The number of honest calls to observe: a probe that is slightly late is in time for some. */
export const LOOKED_AT = 5;

export async function whyUnsteady(context: CheckContext): Promise<string | undefined> {
  const { effects } = context;
  const before = await effects.read();
  await context.pause(A_WHILE_MS);
  const after = await effects.read();
  if (before !== after)
    return effects.blind(`the probe changes by itself: ${clip(before)}, and a moment later ${clip(after)}`);
  for (let call = 0; call < LOOKED_AT; call++) {
    await honestCall(context);
    const atOnce = await effects.read();
    await context.pause(SOON_MS);
    const soon = await effects.read();
    if (atOnce !== soon) return effects.late(atOnce, soon);
  }
  return undefined;
}
