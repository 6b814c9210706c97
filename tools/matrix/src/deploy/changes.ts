/** The changes between two versions of the tool, as the tables say them. */
import type { Change } from '@mrtr/comparison/claims';

export const QUESTION_CHANGES: Partial<Record<Change, string>> = {
  nothing: 'has the same code',
  reworded: 'reworded the question',
  renamed: 'gave it another key or name',
  moved: 'moved it behind the next one',
  removed: 'removed it',
  'added-before': 'asks another one before it',
  'added-after': 'asks another one at the end',
  narrowed: 'no longer allows the answer',
  widened: 'allows one more answer',
  version: 'has another `version` in its policy',
};

export const STEP_CHANGES: Partial<Record<Change, string>> = {
  'step-renamed': 'gave it another key or name',
  'step-moved': 'moved it behind the question',
  'step-removed': 'removed it',
  'step-added': 'has another one behind it',
  'step-value': 'gives another type of value, with `schema`',
};
