import type { Claims } from '@mrtr/option';

/** The claims that all guard-first options share. */
export const claims: Claims = {
  modern: {
    entries: 'every-round',
    audit: 'after-answer',
    stateBytes: { get_weather: [137], resolve_work_item: [143, 175] },
    framesHeld: 0,
    otherInstance: 'finishes',
    restart: 'finishes',
    afterKill: 'finishes',
    unaskable: 'default',
    forgeries: 'refused',
  },
  legacy: {
    entries: 'every-round',
    audit: 'after-answer',
    asked: 'by-policy',
    stateless: 'default',
    afterKill: 'lost',
  },
  conformance: 'it is a variant of E',
};
