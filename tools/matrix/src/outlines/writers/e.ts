/** Any outline in shape E. */
export { writeGuardFirst as write } from '../guard-first.ts';
