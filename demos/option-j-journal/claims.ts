import { type Claims, COMPARES_WORDS, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'every-round',
    audit: 'before-asking',
    stateBytes: { get_weather: [194], resolve_work_item: [166, 309] },
    unaskable: 'default',
  },
  legacy: {
    entries: 'every-round',
    audit: 'before-asking',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: {
    ...COMPARES_WORDS,
    reworded: ['asks again', 'rejects'],
    renamed: ['asks again', 'rejects'],
    moved: ['asks again', 'rejects'],
    removed: ['finishes', 'rejects'],
    'added-before': ['asks again', 'rejects'],
    narrowed: ['asks again', 'rejects'],
    widened: ['asks again', 'rejects'],
    'step-renamed': 'rejects',
    'step-moved': ['rejects', 'finishes'],
    'step-removed': 'rejects',
    'step-added': ['finishes', 'rejects'],
    'step-value': 'rejects',
  },
  conformance: true,
};
