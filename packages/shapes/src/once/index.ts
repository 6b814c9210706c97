/** `@mrtr/shapes/once`: shape F. */
export { type OnceContext, once } from './once.ts';
