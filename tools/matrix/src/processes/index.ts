/** `@mrtr/matrix/processes`: the same conversations, with servers in separate processes that can be killed. */

export { authorsFile } from './authors-file.ts';
export { Database } from './database.ts';
export { type Instance, ProcessFleet } from './fleet.ts';
export { InstanceProcess } from './instance.ts';
export type { Opening, SubjectModule } from './messages.ts';
export { typescriptProgram } from './program.ts';
