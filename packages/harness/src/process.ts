/** `@mrtr/harness/process`: runs programs as processes of their own. */
export { freePort, type ProcessOptions, RunningProcess, type Said } from './processes/process.ts';
