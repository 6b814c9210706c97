/** Shows that the fuzzer finds faults: each broken twin lacks one check, and a default run is enough to notice. */

import { ask, cancelledResult, elicitation, readAnswer, textResult } from '@mrtr/core';
import { type AuditLog, describeWeather, GET_WEATHER, Units } from '@mrtr/example-tools';
import type { Option } from '@mrtr/option';
import { option as e } from '@mrtr/option-e';
import { option as naive } from '@mrtr/option-e/naive';
import { option as f } from '@mrtr/option-f';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { partsOf, policyFromParts } from '../../packages/core/src/admission/policy.ts';
import { firstFailure, holds } from '../fuzz/cases.ts';
import { onlyWhatIsOwed, type Suspect } from '../fuzz/servers.ts';
import { withWeather } from './broken-options.ts';

/** MRTR_FUZZ_CASES does not change these tests. */
const CASES = 67;

type Deps = Parameters<Option['create']>[0];

const changed = (option: Option, change: (deps: Deps) => Partial<Deps>): Option => ({
  ...option,
  create: (deps) => option.create({ ...deps, ...change(deps) }),
});

const units = elicitation('Which units?', Units);
const asked = () => ask({ units });

/** Asks with a schema, and accepts any answer. */
const believing = withWeather('believing', (world) => async ({ location }, { mcpReq }) => {
  const answer = mcpReq.inputResponses?.units as
    | { action: string; content?: z.infer<typeof Units> }
    | undefined;
  if (answer?.action === 'decline' || answer?.action === 'cancel') return cancelledResult('units');
  if (answer?.action !== 'accept' || answer.content?.units === undefined) return asked();
  await world.audit.record(location);
  return textResult(describeWeather(await world.weather.current(location, answer.content.units)));
});

/** Puts the whole error into its result. */
const talkative = withWeather('talkative', () => async (_args, ctx) => {
  const answer = readAnswer(ctx, 'units', units);
  if (answer.kind === 'invalid') throw new Error(new Error('The answer does not fit.').stack);
  return asked();
});

test.each<[string, Suspect]>([
  [
    'accepts answers to questions that it has not asked',
    {
      option: changed(e, ({ state }) => ({
        state: policyFromParts({ ...partsOf(state), unaskedAnswers: 'accept' }),
      })),
    },
  ],
  ['has its effect in every round', { option: { ...naive, claims: e.claims } }],
  ['does not validate', { option: believing, only: GET_WEATHER }],
  ['shows a stack', { option: talkative, only: GET_WEATHER }],
  [
    'does not ask the ledger',
    {
      option: changed(f, ({ state }) => ({
        state: policyFromParts({ ...partsOf(state), singleUse: undefined }),
      })),
    },
  ],
  [
    'does not know who is calling',
    {
      option: changed(f, ({ state }) => ({ state: state.with({ principal: () => 'all' }) })),
    },
  ],
  [
    'writes twice',
    {
      option: changed(f, ({ world }) => ({ world: { ...world, audit: twice(world.audit) } })),
    },
  ],
])('an option that %s is found', async (_what, suspect) => {
  expect(await firstFailure(onlyWhatIsOwed(suspect), CASES)).toBeDefined();
});

const twice = (audit: AuditLog): AuditLog => ({
  ...audit,
  record: async (entry) => {
    await audit.record(entry);
    await audit.record(entry);
  },
});

test('a polluted prototype is found', async () => {
  const merged = fc.property(fc.constant('polluted'), (key) => {
    Reflect.set(Object.prototype, key, true);
  });
  try {
    await expect(holds(merged, 1)).rejects.toThrow('Object.prototype has new members: polluted.');
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted');
  }
});
