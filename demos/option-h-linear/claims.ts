import { type Claims, REJECTS_ALL } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    entries: 'once',
    audit: 'before-asking',
    stateBytes: { get_weather: [206], resolve_work_item: [213, 210] },
    framesHeld: 1,
    otherInstance: 'rejected',
    restart: 'rejected',
    afterKill: 'rejected',
    unaskable: 'default',
    forgeries: 'rejected',
  },
  legacy: {
    entries: 'once',
    audit: 'before-asking',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: REJECTS_ALL,
  conformance: true,
};
