/** `@mrtr/harness/process`: runs programs as processes of their own. */
export { freePort, type ProcessOptions, type ProcessOutput, RunningProcess } from './process.ts';
export { type OutputStream, Writer } from './writer.ts';
