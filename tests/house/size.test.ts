import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const FILES: Readonly<Record<string, string>> = {
  'README.md': 'A line.\n'.repeat(161),
  'packages/core/package.json': '{ "name": "@mrtr/core", "exports": { ".": "./src/index.ts" } }',
  // Five nodes each, whatever the layout.
  'demos/a.mjs': 'export const one = 1;',
  'demos/b.mjs': '/** A comment. */\nexport const one\n  = 1; // Another.\n',
  'demos/a.test.ts': 'export const one = 1;',
  'packages/core/src/index.ts':
    "export { serve as start, type Options } from './serve.ts';\nexport * from './store.ts';",
  'packages/core/src/serve.ts': `
    import type { Common } from './store.ts';
    export interface Options extends Common { a?: string; nested: { b?: number }; callback: (c: { none?: 1 }) => void }
    export function serve(options: Readonly<Options>, again?: Options, more?: { d?: 1 }): void {}
    export const unexported = (options: { none?: 1 }) => {};`,
  'packages/core/src/store.ts': `
    export interface Common { e?(): void }
    export class Store { constructor(options: Common & { f?: 1 }) {} private hidden(options: { none?: 1 }) {} }`,
};

test('size counts nodes, exports and options, and fails above a ceiling', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-size-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  const program = fileURLToPath(new URL('size.ts', import.meta.url));
  const { code, stdout } = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', program, folder], (error, out) =>
      resolve({ code: error?.code, stdout: out }),
    );
  });
  expect(stdout.split('\n').map((line) => line.split(',')[0])).toEqual([
    '      135 nodes of source',
    '        4 names that the published packages export',
    '        5 options that a caller can give them',
    '✗     161 lines of README.md',
    '      322 words of Markdown',
    '',
  ]);
  expect(code).toBe(1);
});
