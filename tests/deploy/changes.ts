/** What may be changed between two versions of the tool. Only names: the command line prints them before it loads code. */
export const CHANGE_NAMES = [
  'nothing',
  'reworded',
  'renamed',
  'moved',
  'removed',
  'added-before',
  'added-after',
  'narrowed',
  'widened',
  'step-renamed',
  'step-moved',
  'step-removed',
  'step-added',
  'step-value',
  'version',
] as const;

/** What was changed between two versions. */
export type Change = (typeof CHANGE_NAMES)[number];
