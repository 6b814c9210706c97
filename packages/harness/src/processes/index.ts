/** `@mrtr/harness/process`: runs programs as processes of their own. */
export { freePort, type Program, RunningProcess } from './process.ts';
