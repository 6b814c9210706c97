import { type Claims, COMPARES_WORDS, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'every-round',
    audit: 'before-asking',
    stateBytes: { get_weather: [178], resolve_work_item: [162, 297] },
    unaskable: 'default',
  },
  legacy: {
    entries: 'every-round',
    audit: 'before-asking',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: { ...COMPARES_WORDS, 'step-renamed': 'rejects', 'step-value': 'rejects' },
  conformance: true,
};
