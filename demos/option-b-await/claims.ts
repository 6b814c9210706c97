import { type Claims, COMPARES_WORDS, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'every-round',
    audit: 'every-entry',
    stateBytes: { get_weather: [163], resolve_work_item: [170, 305] },
    unaskable: 'default',
  },
  legacy: {
    entries: 'once',
    audit: 'every-entry',
    asked: 'always',
    stateless: 'default',
  },
  deploys: { ...COMPARES_WORDS, renamed: 'finishes' },
  conformance: 'it asks with forms only, one by one',
};
