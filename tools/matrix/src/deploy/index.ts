/** `@mrtr/matrix/deploy`: a call whose server is replaced by another version of its code, between two rounds. */

export {
  callThroughDeploy,
  claimOf,
  type DeployScenario,
  MOMENTS,
  type Moment,
  type StartVersions,
} from './call.ts';
export { QUESTION_CHANGES, STEP_CHANGES } from './changes.ts';
export { inMemory } from './in-memory.ts';
export { outcomeOf } from './outcome.ts';
export { deploy, ORDER, versionOf } from './subject.ts';
export { deployTables } from './table.ts';
export { outlineOf, policyVersion, STEPS } from './versioned-tool.ts';
