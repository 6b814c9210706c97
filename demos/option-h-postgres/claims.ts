import { type Claims, REFUSES_ALL } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    entries: 'once',
    audit: 'before-asking',
    stateBytes: { get_weather: [209], resolve_work_item: [215, 213] },
    framesHeld: 1,
    otherInstance: 'finishes',
    restart: 'finishes',
    afterKill: 'finishes',
    unaskable: 'default',
    forgeries: 'refused',
  },
  legacy: {
    entries: 'once',
    audit: 'before-asking',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: { ...REFUSES_ALL, nothing: 'finishes', 'added-after': 'finishes' },
  conformance: 'it is H with another store',
};
