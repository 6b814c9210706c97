import { type Claims, COMPARES_SCHEMA, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'every-round',
    audit: 'after-answer',
    stateBytes: { get_weather: [137], resolve_work_item: [143, 175] },
    unaskable: 'error',
  },
  legacy: {
    entries: 'once',
    audit: 'after-answer',
    asked: 'always',
    stateless: 'error',
  },
  deploys: COMPARES_SCHEMA,
  conformance: 'the client of the suite is modern, and sees E',
};
