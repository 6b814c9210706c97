import { type Claims, REJECTS_ALL } from '@mrtr/comparison/claims';

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
    forgeries: 'rejected',
  },
  legacy: {
    entries: 'once',
    audit: 'before-asking',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: { ...REJECTS_ALL, nothing: 'finishes', 'added-after': 'finishes' },
  conformance: 'it is H with another store',
};
