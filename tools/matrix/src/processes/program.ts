/** The commands that run a program from its TypeScript. */
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Program } from '@mrtr/harness/process';

// A Node that cannot strip types loads tsx. By its URL, because the working directory may be any folder.
const loader = (process.features as { typescript?: unknown }).typescript
  ? []
  : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];

export const typescriptProgram = (path: string, ...args: readonly string[]): Program => ({
  command: process.execPath,
  args: [...loader, path, ...args],
});

export const instanceProgram = typescriptProgram(fileURLToPath(new URL('./child.ts', import.meta.url)));
