/** `@mrtr/matrix/processes`: the same conversations, with servers in separate processes that can be killed. */

export { authorsFile } from './authors-file.ts';
export { createDatabase, type Database } from './database.ts';
export { processFleet } from './fleet.ts';
export { holdParts } from './hold-parts.ts';
export { type InstanceProcess, startInstance } from './instance.ts';
export type { InstanceAddress, Opening, SubjectModule } from './messages.ts';
export { typescriptProgram } from './program.ts';
