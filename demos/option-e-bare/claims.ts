import { type Claims, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'every-round',
    audit: 'after-answer',
    stateBytes: { get_weather: [0], resolve_work_item: [0, 26] },
    unaskable: 'error',
    forgeries: 'taken',
  },
  legacy: {
    entries: 'every-round',
    audit: 'after-answer',
    asked: 'always',
    stateless: 'error',
  },
  saysWhy: false,
  conformance: 'it is a variant of E',
};
