/** The shapes that keep their promises, as options to run. */

import { type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { option as f } from '@mrtr/option-f';
import { option as g } from '@mrtr/option-g';
import { option as h } from '@mrtr/option-h';
import { option as i } from '@mrtr/option-i';
import { option as j } from '@mrtr/option-j';
import type { Option, RunningOption } from '@mrtr/tools';
import { forgetfulWorld } from './world.ts';

/** F to J. */
export const SHAPES: readonly Option[] = [f, g, h, i, j];

const KEY = 'the benchmark has a key that every process of it knows';

/** The policy of every process. */
export const policy = (): RequestStatePolicy => requestStatePolicy({ keys: [KEY] });

/** Makes an option run, with everything protected as it is by default. */
export const running = (option: Option): RunningOption =>
  option.create({ world: forgetfulWorld(), state: policy() });
