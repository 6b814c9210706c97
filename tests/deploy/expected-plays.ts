/** The plays that each shape must have. They are written out, so that a change lost from `changes.ts` is noticed. */

import type { Play } from '@mrtr/matrix/deploy';
import { namesOf } from '../testkit/cells.ts';

export const KNOWN_SHAPES: readonly string[] = 'a b c d e f g h h-postgres i j'.split(' ');

/** The changes of version 2 to a question. Each is a row of a table, and so is `version`. */
export const KNOWN_QUESTION_CHANGES: readonly string[] =
  'nothing reworded renamed moved removed added-before added-after narrowed widened version'.split(' ');
export const KNOWN_STEP_CHANGES: readonly string[] =
  'step-renamed step-moved step-removed step-added step-value'.split(' ');

/** 15 changes, each while the size is asked and after it was answered. */
export const PLAYS_OF_A_SHAPE = 30;

export const expectedPlays = (shape: string): readonly string[] =>
  namesOf([shape], [...KNOWN_QUESTION_CHANGES, ...KNOWN_STEP_CHANGES], ['asked', 'answered']);

export const nameOfPlay = ({ option, change, moment }: Play): string =>
  `${option.id} · ${change} · ${moment}`;
