/** The options that are measured, from the list of all. */
import { type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import type { Option, RunningOption } from '@mrtr/option';
import { type LoadedOption, loadOptions, OPTIONS } from '@mrtr/options';
import { forgetfulWorld } from './world.ts';

/** The shapes that keep their promises, in memory: F and later. */
export const SHAPES: readonly LoadedOption[] = await loadOptions(
  OPTIONS.filter(({ id, needsPostgres }) => id >= 'f' && !needsPostgres),
);

const KEY = 'the benchmark has a key that every process of it knows';

/** The policy of every process. */
export const policy = (): RequestStatePolicy => requestStatePolicy({ keys: [KEY], singleUse: false });

/** Makes an option run. State is not single-use: no ledger is measured with it. */
export const running = (option: Option): RunningOption =>
  option.create({ world: forgetfulWorld(), state: policy() });
