/** Plants mistakes in a small repository with our configuration. `pnpm check` must find them. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A folder with `files`, deleted after the test. */
async function repository(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-planted-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const config of ['biome.json', 'knip.json']) await cp(join(ROOT, config), join(folder, config));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** Runs one of our programs in `folder`, and returns its exit code and output. */
const run = (folder: string, program: string, args: readonly string[]) =>
  new Promise<{ code: unknown; stdout: string }>((resolve) => {
    const path = join(ROOT, 'node_modules/.bin', program);
    execFile(path, args, { cwd: folder }, (error, stdout) => resolve({ code: error?.code ?? 0, stdout }));
  });

const LONG = `export function long(): number {\n${'  Math.random();\n'.repeat(60)}  return 1;\n}\n`;

const LINTED: readonly (readonly [path: string, source: string, ...rules: string[]])[] = [
  ['packages/core/src/up.ts', "import '@mrtr/shapes/once';", 'noRestrictedImports'],
  ['packages/core/src/up.test.ts', "import '@mrtr/comparison';", 'noRestrictedImports'],
  ['packages/shapes/src/inside.ts', "import '../../core/src/wire/call.ts';", 'noRestrictedImports'],
  ['packages/hosting/src/beside.ts', "import '@mrtr/ledgers/redis';", 'noRestrictedImports'],
  ['packages/linear-dbos/src/up.ts', "import '@mrtr/harness';", 'noRestrictedImports'],
  ['packages/check/src/beside.ts', "import '@mrtr/core';", 'noRestrictedImports'],
  ['demos/option-f-once/beside.ts', "export * from '@mrtr/option-g';", 'noRestrictedImports'],
  ['demos/option-f-once/file.ts', "import '../option-g-tool-builder/weather.ts';", 'noRestrictedImports'],
  ['demos/option-f-once/harness.ts', "import '@mrtr/harness';", 'noRestrictedImports'],
  ['demos/option-f-once/tool.ts', "import '@mrtr/matrix';", 'noRestrictedImports'],
  ['demos/option-f-once/tool.test.ts', "import '@mrtr/matrix';", 'noRestrictedImports'],
  ['demos/option-f-once/calls.ts', "import '@mrtr/comparison/calls';", 'noRestrictedImports'],
  ['demos/option-h-postgres/beside.ts', "import '@mrtr/option-h/weather';", 'noRestrictedImports'],
  ['demos/comparison/option.ts', "import '@mrtr/option-f';", 'noRestrictedImports'],
  ['demos/comparison/file.ts', "import '../option-f-once/server.ts';", 'noRestrictedImports'],
  ['demos/comparison/up.ts', "import '@mrtr/shapes/once';", 'noRestrictedImports'],
  ['demos/comparison/tool.ts', "import '@mrtr/matrix';", 'noRestrictedImports'],
  ['demos/comparison/tool.test.ts', "import '../../tools/matrix/src/index.ts';", 'noRestrictedImports'],
  ['packages/pages/src/beside.ts', "import '@mrtr/ledgers/redis';", 'noRestrictedImports'],
  ['packages/ledgers/src/up.ts', "import '@mrtr/shapes/once';", 'noRestrictedImports'],
  ['packages/linear-dbos/src/up.test.ts', "import '@mrtr/comparison';", 'noRestrictedImports'],
  ['packages/harness/src/up.ts', "import '@mrtr/core';", 'noRestrictedImports'],
  ['packages/harness/src/to-tests.test.ts', "import '../../../tests/house.ts';", 'noRestrictedImports'],
  ['packages/check/src/to-tests.ts', "import '../../../tests/house.ts';", 'noRestrictedImports'],
  ['tools/postgres-server/src/to-tests.ts', "import '../../../tests/house.ts';", 'noRestrictedImports'],
  ['tools/postgres-server/src/up.ts', "import '@mrtr/core';", 'noRestrictedImports'],
  ['tools/matrix/src/option.ts', "import '@mrtr/option-g';", 'noRestrictedImports'],
  ['tools/matrix/src/up.ts', "import '@mrtr/demo-basic';", 'noRestrictedImports'],
  ['tools/matrix/src/to-tests.ts', "import '@mrtr/tests';", 'noRestrictedImports'],
  ['tools/cli/src/to-tests.ts', "import '@mrtr/tests';", 'noRestrictedImports'],
  ['tools/lab/src/inside.ts', "import '../../../packages/core/src/index.ts';", 'noRestrictedImports'],
  ['demos/basic/tool.ts', "import '@mrtr/lab';", 'noRestrictedImports'],
  ['demos/basic/to-tests.ts', "import '@mrtr/tests/matrix';", 'noRestrictedImports'],
  ['demos/basic/to-tests.test.ts', "import '../../tests/house.ts';", 'noRestrictedImports'],
  ['demos/basic/lazy.ts', "export const load = () => import('@mrtr/tests');", 'noRestrictedImports'],
  ['demos/basic/inside.ts', "import '../../packages/core/src/wire/call.ts';", 'noRestrictedImports'],
  ['packages/otel/src/undeclared.ts', "import 'zod';", 'noUndeclaredDependencies'],
  ['packages/otel/src/for-tests.ts', "import 'fast-check';", 'noUndeclaredDependencies'],
  ['packages/otel/src/one.ts', "export type { Two } from './two.ts'; export type One = 1;", 'noImportCycles'],
  ['packages/otel/src/two.ts', "export type { One } from './one.ts'; export type Two = 2;", 'noImportCycles'],
  ['packages/otel/src/long.ts', LONG, 'noExcessiveLinesPerFunction'],
  ['packages/otel/src/longer.ts', 'Math.random();\n'.repeat(501), 'noExcessiveLinesPerFile'],
];

/** Declares every package of ours that the planted files import. */
const MANIFEST = JSON.stringify({
  dependencies: Object.fromEntries([...`${LINTED}`.matchAll(/@mrtr\/[\w-]+/g)].map(([name]) => [name, '*'])),
  devDependencies: { 'fast-check': '*' },
});

interface Report {
  readonly diagnostics: readonly {
    readonly severity: string;
    readonly message: string;
    readonly category: string;
    readonly location: { readonly path: string };
  }[];
}

test('lint finds forbidden imports, circles, undeclared dependencies, and code that is too long', async () => {
  const manifests = LINTED.map(([path]) => [join(dirname(path), '../package.json'), MANIFEST] as const);
  const sources = LINTED.map(([path, source]) => [path, source] as const);
  const folder = await repository(Object.fromEntries([...manifests, ...sources]));
  const { code, stdout } = await run(folder, 'biome', ['lint', '--vcs-enabled=false', '--reporter=json']);
  const errors = (JSON.parse(stdout) as Report).diagnostics.filter(({ severity }) => severity === 'error');
  const found = errors.map(({ location, category }) => `${location.path} ${category.split('/').at(-1)}`);
  expect(found.sort()).toEqual(
    LINTED.flatMap(([path, , ...rules]) => rules.map((rule) => `${path} ${rule}`)).sort(),
  );
  expect(code).toBe(1);

  const importRules = [...readFileSync(join(ROOT, 'biome.json'), 'utf8').matchAll(/"message": "(.+)"/g)];
  const unbroken = importRules.filter(([, rule]) => !errors.some(({ message }) => message === rule));
  expect(importRules.length).toBeGreaterThan(10);
  expect(unbroken).toEqual([]);
});

test('unused files, dependencies and exports of TypeScript are found', async () => {
  const folder = await repository({
    'package.json': '{ "name": "root", "private": true, "type": "module" }',
    'pnpm-workspace.yaml': 'packages: [packages/*]',
    'packages/core/package.json': JSON.stringify({
      name: '@mrtr/core',
      exports: './src/index.ts',
      dependencies: { 'nobody-imports-it': '*' },
    }),
    'packages/core/src/index.ts': "export { used } from './values.ts';",
    'packages/core/src/values.ts': 'export const used = 1;\nexport const unusedValue = 2;',
    'packages/core/src/unused-file.ts': 'export {};',
  });
  const { code, stdout } = await run(folder, 'knip', ['--treat-config-hints-as-errors']);
  for (const finding of ['nobody-imports-it', 'unusedValue', 'unused-file.ts'])
    expect(stdout).toContain(finding);
  expect(code).toBe(1);
});

test('a broken budget is marked in the table, and fails', async () => {
  const folder = await repository({
    'README.md': 'A line.\n'.repeat(161),
    'packages/core/package.json': '{ "name": "@mrtr/core" }',
    'packages/core/src/index.ts': `${LONG}\n`,
    'demos/option-f-once/weather.ts': 'Math.random();\n'.repeat(61),
  });
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  const budgets = join(ROOT, 'tests/house/budgets.ts');
  const { code, stdout } = await run(folder, 'tsx', [budgets, folder]);
  const broken = stdout.split('\n').filter((line) => line.startsWith('✗'));
  expect(broken.map((line) => line.slice(2).split(',')[0])).toEqual([
    'library functions',
    'demos/option-f-once/weather.ts',
    'README.md',
  ]);
  expect(code).toBe(1);
});
