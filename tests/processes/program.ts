/** How to run a TypeScript program of this package as a process of its own. */
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Program } from '@mrtr/harness';

// A Node that cannot strip types itself borrows tsx, by its address: the working directory may be anybody's.
const loader = (process.features as { typescript?: unknown }).typescript
  ? []
  : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];

/** The program that serves what it is told to, as one instance of a deployment. */
export function instanceProgram(env: Program['env']): Program {
  const path = fileURLToPath(new URL('./child.ts', import.meta.url));
  return { command: process.execPath, args: [...loader, path], env };
}
