/** Any outline in shape A: E, and the SDK's own shim for old clients. */
export { writeGuardFirst as write } from '../guard-first.ts';
