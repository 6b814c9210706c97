/** `@mrtr/matrix/processes`: the same conversations, with servers in separate processes that can be killed. */

export { authorsFile } from './authors-file.ts';
export { Database } from './database.ts';
export { Processes, type ProcessHosting } from './deployment.ts';
export { Fleet } from './fleet.ts';
export { Instance } from './instance.ts';
export { killsAsClaimed, sameAcrossHostings } from './invariants.ts';
export { type KillCell, measureProcesses, type ProcessCell, type ProcessMeasurements } from './measure.ts';
export type { Opening } from './messages.ts';
export { BRIEF_PLAYS, type Play, type Plays } from './plays.ts';
export { typescriptProgram } from './program.ts';
