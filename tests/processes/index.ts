/** `@mrtr/harness/processes`: the same conversations, with servers in processes of their own that can be killed. */
export { type Locate, Processes, type ProcessHosting } from './deployment.ts';
export { killsAsClaimed, sameAcrossHostings } from './invariants.ts';
export { type KillCell, measureProcesses, type ProcessCell, type ProcessMeasurements } from './measure.ts';
export type { SubjectModule } from './messages.ts';
export { type Play, type Plays, PROCESS_PLAYS } from './plays.ts';
