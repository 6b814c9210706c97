import { type Claims, COMPARES_SCHEMA, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'every-round',
    audit: 'after-answer',
    stateBytes: { get_weather: [137], resolve_work_item: [143, 175] },
    unaskable: 'default',
  },
  legacy: {
    entries: 'every-round',
    audit: 'after-answer',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: COMPARES_SCHEMA,
  conformance: true,
};
