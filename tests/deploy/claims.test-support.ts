/** Shapes held to their claims of a deploy between two rounds, in whichever hosting. */

import {
  CHANGE_NAMES,
  claimOf,
  faultsOf,
  type Host,
  MOMENTS,
  outcomeOf,
  type Play,
  play,
} from '@mrtr/matrix/deploy';
import { type LoadedOption, loadOptions } from '@mrtr/options';
import { expect } from 'vitest';
import { cellsAmiss } from '../testkit/cells.ts';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import { type Extent, expectedPlays, nameOfPlay, PLAYS_OF_A_SHAPE } from './expected-plays.ts';

export const DEPLOYED = (await loadOptions()).filter(({ claims }) => claims.deploys);

/** Plays every change, while the question is open or at both moments, and compares. */
export async function holdToClaims(option: LoadedOption, host: Host, extent: Extent): Promise<void> {
  const moments = MOMENTS.filter((moment) => extent === 'all' || moment === 'asked');
  const [wrong, played]: [string[], Play[]] = [[], []];
  for (const change of CHANGE_NAMES) {
    const plays = moments.map((moment): Play => ({ option, change, moment }));
    played.push(...plays);
    wrong.push(...(await Promise.all(plays.map((one) => differences(one, host)))).flat());
  }
  expect(wrong.join('\n')).toBe('');
  expect(cellsAmiss(expectedPlays(option.id, extent), played.map(nameOfPlay)).join('\n')).toBe('');
  expect(played).toHaveLength(PLAYS_OF_A_SHAPE[extent]);
}

async function differences(one: Play, host: Host): Promise<string[]> {
  const transcript = await play(one, host);
  expect(schemaMistakes([transcript])).toEqual([]);
  const { option, change, moment } = one;
  const [claim, outcome] = [claimOf(one), outcomeOf(transcript)];
  const faults = outcome === claim ? [] : [`claims '${claim}', and comes to '${outcome}'`];
  return [...faults, ...faultsOf(one, transcript)].map(
    (fault) => `${option.id} · ${change} · ${moment}: ${fault}`,
  );
}
