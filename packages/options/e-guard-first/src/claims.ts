import { type Claims, IN_STATE } from '@mrtr/options-contract';

/** The claims that all guard-first options share. */
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
  conformance: 'it is a variant of E',
};
