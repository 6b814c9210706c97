/** Shapes held to their claims of a deploy between two rounds, in whichever hosting. */
import { expect } from 'vitest';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import { claimed } from './claims.ts';
import { CHANGES, type Change } from './code.ts';
import { faultsOf, type Host, MOMENTS, outcomeOf, type Play, play } from './play.ts';
import type { ShapeId } from './subject.ts';

/** Plays every change, at both moments, and compares. */
export async function holdToClaims(shape: ShapeId, host: Host): Promise<void> {
  const plays = (Object.keys(CHANGES) as Change[]).flatMap((change) =>
    MOMENTS.map((moment): Play => ({ shape, change, moment })),
  );
  const wrong: string[] = [];
  for (const one of plays) {
    const transcript = await play(one, host);
    const where = `${shape} · ${one.change} · ${one.moment}`;
    const [claim, outcome] = [claimed(shape, one.change, one.moment), outcomeOf(transcript)];
    if (outcome !== claim) wrong.push(`${where}: claims '${claim}', and comes to '${outcome}'`);
    wrong.push(...faultsOf(one, transcript).map((fault) => `${where}: ${fault}`));
    expect(schemaMistakes([transcript])).toEqual([]);
  }
  expect(wrong.join('\n')).toBe('');
}
