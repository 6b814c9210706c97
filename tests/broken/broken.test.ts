/** Each invariant fails on an option with exactly the fault that it must detect. */

import type { Measured } from '@mrtr/comparison/calls';
import { findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { type Cell, measure, SCENARIOS } from '@mrtr/matrix';
import { beforeAll, expect, test } from 'vitest';
import {
  effectsAsClaimed,
  failsClearly,
  forgeriesAsClaimed,
  mechanicsAsClaimed,
  retriesAsClaimed,
  sameForTheHost,
  sameOnTheWire,
} from '../matrix/invariants.ts';
import * as broken from './broken-options.ts';

const scenarios = (client: string, hosting: string, script: string) =>
  SCENARIOS.filter(
    (scenario) =>
      scenario.client === client &&
      scenario.hosting === hosting &&
      scenario.legacy === 'shim' &&
      scenario.script.name === script &&
      scenario.script.tool === 'get_weather',
  );

const load = (id: string) => loadOption(findOption(id) as ListedOption);

let a: Measured;

beforeAll(async () => {
  a = await load('a');
});

const metric = (option: Measured, client = 'modern', hosting = 'memory') =>
  measure(option, scenarios(client, hosting, 'metric'));

const each = (check: (cell: Cell) => string[], cells: readonly Cell[]) => cells.flatMap(check).join('\n');

test('a changed question is noticed at the host, with a diff of the two', async () => {
  const [diff] = sameForTheHost([...(await metric(a)), ...(await metric(broken.asksDifferently))]);
  expect(diff).toContain('-  "message": "Which units?"');
  expect(diff).toContain('+  "message": "Metric or imperial?"');
});

test('a changed key is noticed on the wire, and only there', async () => {
  const cells = [...(await metric(a)), ...(await metric(broken.keysDifferently))];
  expect(sameForTheHost(cells)).toEqual([]);
  expect(sameOnTheWire(cells).join()).toMatch(/-\s+"units": \{[\s\S]*\+\s+"u": \{/);
});

test('an audit entry in every round is noticed', async () => {
  expect(each(effectsAsClaimed, await metric(broken.auditsPerRound))).toContain(
    'claims audits 1, measured 2',
  );
});

test('a write that nobody asked for is noticed', async () => {
  expect(each(effectsAsClaimed, await metric(broken.writesTwice))).toContain('claims writes 0, measured 1');
});

test('a decline that is asked again is noticed', async () => {
  const cells = await measure(broken.asksAgainOnDecline, scenarios('modern', 'memory', 'decline'));
  expect(each(effectsAsClaimed, cells)).toContain('claims outcome cancelled, measured error');
});

test('a hidden frame, a hidden entry and hidden bytes are noticed', async () => {
  expect(each(mechanicsAsClaimed, await metric(broken.hidesFrames))).toContain(
    'claims framesHeld 0, measured 1',
  );
  expect(each(mechanicsAsClaimed, await metric(broken.hidesEntries))).toContain(
    'claims entries 1, measured 2',
  );
  expect(each(mechanicsAsClaimed, await metric(broken.hidesBytes))).toContain(
    'claims state of 0 bytes, measured 178',
  );
});

test('instances that do not share a key are noticed', async () => {
  expect(each(mechanicsAsClaimed, await metric(broken.ownKeyPerInstance))).toContain(
    'claims otherInstance finishes, measured rejected',
  );
});

test('a write before the failure is noticed', async () => {
  expect(each(failsClearly, await metric(broken.writesBeforeFailing, 'legacy', 'fleet'))).toContain(
    'failed after writing 1',
  );
});

test('a success where a failure is claimed is noticed', async () => {
  const e = await load('e');
  const claimsToFail = {
    ...e,
    claims: { ...e.claims, legacy: { ...e.claims.legacy, stateless: 'error' as const } },
  };
  expect(each(failsClearly, await metric(claimsToFail, 'legacy', 'fleet'))).toContain("ended with 'default'");
});

test('a retry that is served twice in spite of single use is noticed', async () => {
  const fixed = SCENARIOS.filter(
    ({ client, hosting, script }) => client === 'modern' && hosting === 'memory' && script.name === 'fixed',
  );
  expect(each(retriesAsClaimed, await measure(broken.forgetsSingleUse, fixed))).toContain(
    'by default, retries sent twice wrote 2 times',
  );
});

test('an accepted unasked answer, and accepted state of another call, are noticed', async () => {
  const duplicate = SCENARIOS.filter(
    ({ client, hosting, script }) =>
      client === 'modern' && hosting === 'memory' && script.name === 'duplicate',
  );
  const said = each(forgeriesAsClaimed, await measure(broken.hidesForgeries, duplicate));
  expect(said).toContain('claims unaskedAnswer rejected, measured taken');
  expect(said).toContain('claims stateOfAnotherCall rejected, measured taken');
});
