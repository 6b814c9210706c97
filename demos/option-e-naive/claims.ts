import { type Claims, IN_STATE } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    ...IN_STATE,
    entries: 'every-round',
    audit: 'every-entry',
    stateBytes: { get_weather: [137], resolve_work_item: [143, 175] },
    unaskable: 'default',
  },
  legacy: {
    entries: 'every-round',
    audit: 'every-entry',
    asked: 'by-policy',
    stateless: 'default',
  },
  conformance: 'it is a variant of E',
};
