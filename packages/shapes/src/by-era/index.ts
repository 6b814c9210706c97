/** `@mrtr/shapes/by-era`: shape D. */
export { byEra, type Eras } from './by-era.ts';
