import { type Claims, REFUSES_ALL } from '@mrtr/comparison/claims';

export const claims: Claims = {
  modern: {
    entries: 'once',
    audit: 'before-asking',
    stateBytes: { get_weather: [206], resolve_work_item: [213, 210] },
    framesHeld: 1,
    otherInstance: 'refused',
    restart: 'refused',
    afterKill: 'refused',
    unaskable: 'default',
    forgeries: 'refused',
  },
  legacy: {
    entries: 'once',
    audit: 'before-asking',
    asked: 'by-policy',
    stateless: 'default',
  },
  deploys: REFUSES_ALL,
  conformance: true,
};
