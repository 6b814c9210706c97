/** The scenarios that each shape must have. They are written out, so that a change lost from `changes.ts` is noticed. */

import type { DeployScenario } from '@mrtr/matrix/deploy';
import { namesOf } from '../testkit/cells.ts';

export const KNOWN_SHAPES: readonly string[] = 'a b c d e f g h h-postgres i j'.split(' ');

/** The changes of version 2 to a question. Each is a row of a table, and so is `version`. */
export const KNOWN_QUESTION_CHANGES: readonly string[] =
  'nothing reworded renamed moved removed added-before added-after narrowed widened version'.split(' ');
export const KNOWN_STEP_CHANGES: readonly string[] =
  'step-renamed step-moved step-removed step-added step-value'.split(' ');

/** 15 changes, each while the size is asked and after it was answered. */
export const SCENARIOS_OF_A_SHAPE = 30;

export const expectedScenarios = (shape: string): readonly string[] =>
  namesOf([shape], [...KNOWN_QUESTION_CHANGES, ...KNOWN_STEP_CHANGES], ['asked', 'answered']);

export const nameOfScenario = ({ option, change, moment }: DeployScenario): string =>
  `${option.id} · ${change} · ${moment}`;
