import { type Claims, COMPARES_WORDS, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'once',
    audit: 'after-answer',
    stateBytes: { get_weather: [159], resolve_work_item: [166, 301] },
    unaskable: 'default',
  },
  legacy: {
    entries: 'once',
    audit: 'after-answer',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: COMPARES_WORDS,
  conformance: true,
};
