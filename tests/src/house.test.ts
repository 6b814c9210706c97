import { basename, dirname, posix } from 'node:path';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from './project-files.ts';
import { commentLinesOf, linesOf, modulesNamedIn } from './source-text.ts';

const files = projectFiles();
const packages = files.filter((file) =>
  /^(?:packages|demos)\/[^/]+\/package\.json$|^tests\/package\.json$/.test(file),
);
const isSource = (file: string) => /\.m?[jt]s$/.test(file);
const isLibrary = (file: string) =>
  /^packages\/(?:core|shapes|harness)\/src\/.*(?<!\.test|\.test-support)\.ts$/.test(file);

/** What each package may import of ours. Demos, tests and benchmarks, which join everything, are not listed. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  shapes: ['core'],
  domain: [],
  contract: ['core', 'domain'],
  option: ['core', 'shapes', 'domain', 'contract'],
  hosting: ['core'],
  'old-server': ['domain'],
  otel: ['core'],
  'ledger-postgres': ['core'],
  'ledger-redis': ['core'],
  // The last two in its tests.
  'linear-dbos': ['core', 'shapes', 'hosting', 'postgres-server'],
  'postgres-server': [],
  'option-h-postgres': ['core', 'shapes', 'contract', 'option-h', 'linear-dbos'],
  harness: ['core', 'contract', 'domain', 'hosting'],
};

/** Why `folder` must not name `specifier`, or `undefined` where it may. */
function objection(folder: string, file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) {
    const target = posix.join(dirname(file), specifier);
    return target.startsWith(`${folder}/`) ? undefined : `${specifier} is outside ${folder}`;
  }
  if (folder === 'packages/domain' && specifier.startsWith('@modelcontextprotocol/')) {
    return 'the domain knows nothing of MCP';
  }
  if (folder === 'packages/old-server' && /^@modelcontextprotocol\/(?!sdk)/.test(specifier)) {
    return 'the old server is written on the v1 SDK';
  }
  const sibling = /^@mrtr\/([^/]+)/.exec(specifier)?.[1];
  if (sibling === undefined || !folder.startsWith('packages/') || folder === 'packages/bench')
    return undefined;
  const self = basename(folder);
  const may = MAY_IMPORT[self.replace(/^option-[a-z]$/, 'option')];
  if (may === undefined) return `${folder} has no import rule yet`;
  return sibling === self || may.includes(sibling) ? undefined : `${folder} must not import ${specifier}`;
}

/** Every name of a module in the package's sources, and of a dependency in its manifest. */
function namesIn(manifest: string): { file: string; line: number; specifier: string }[] {
  const text = textOf(manifest);
  const lines = text.split('\n');
  const parsed: Record<string, Record<string, string> | undefined> = JSON.parse(text);
  const declared = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']
    .flatMap((kind) => Object.keys(parsed[kind] ?? {}))
    .map((specifier) => ({
      file: manifest,
      line: lines.findIndex((line) => line.includes(`"${specifier}":`)) + 1,
      specifier,
    }));
  const imported = files
    .filter((file) => file.startsWith(`${dirname(manifest)}/`) && isSource(file))
    .flatMap((file) => modulesNamedIn(textOf(file)).map((named) => ({ file, ...named })));
  return [...declared, ...imported];
}

test('every package imports and depends on only what the import rule allows', () => {
  const offenders = packages.flatMap((manifest) =>
    namesIn(manifest).flatMap(({ file, line, specifier }) => {
      const reason = objection(dirname(manifest), file, specifier);
      return reason === undefined ? [] : [`${file}:${line} ${reason}`];
    }),
  );
  expect(packages.length).toBeGreaterThan(0);
  expect(offenders).toEqual([]);
});

test.each([
  ['packages/core', '@mrtr/domain', true],
  ['packages/core', '../../domain/src/index.ts', true],
  ['packages/core', './wire.ts', false],
  ['packages/shapes', '@mrtr/core', false],
  ['packages/domain', '@mrtr/core', true],
  ['packages/domain', '@modelcontextprotocol/server', true],
  ['packages/option-a', '@mrtr/shapes/once', false],
  ['packages/option-a', '@mrtr/option-b', true],
  ['packages/option-a', '@mrtr/harness', true],
  ['packages/harness', '@mrtr/option-a', true],
  ['packages/old-server', '@mrtr/core', true],
  ['packages/old-server', '@modelcontextprotocol/server', true],
  ['packages/old-server', '@modelcontextprotocol/sdk/types.js', false],
  ['packages/otel', '@mrtr/core', false],
  ['packages/otel', '@mrtr/shapes', true],
  ['packages/newcomer', '@mrtr/core', true],
  ['packages/bench', '@mrtr/option-a', false],
  ['packages/option-a', '@mrtr/bench', true],
  ['demos/cli', '@mrtr/option-a', false],
  ['tests', '@mrtr/harness', false],
])('the import rule judges %s naming %s: objection %s', (folder, specifier, objects) => {
  expect(objection(folder, `${folder}/src/any.ts`, specifier) !== undefined).toBe(objects);
});

interface Budget {
  readonly what: string;
  readonly measured: number;
  readonly min?: number;
  readonly max: number;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const lengths = (of: readonly string[]) => of.map((file) => linesOf(textOf(file)));

/** The value that `share` of the sorted numbers do not exceed. */
const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.ceil(share * sorted.length) - 1] ?? 0;

function budgets(): Budget[] {
  const options = packages
    .map((manifest) => dirname(manifest))
    .filter((folder) => /\/option-[a-z]$/.test(folder));
  const library = files.filter(isLibrary);
  const sorted = lengths(library).sort((a, b) => a - b);
  const comments = sum(library.map((file) => commentLinesOf(textOf(file))));
  return [
    ...options.map((folder) => ({
      what: `${folder}/src, lines`,
      measured: sum(lengths(files.filter((f) => f.startsWith(`${folder}/src/`) && !f.endsWith('.test.ts')))),
      max: 220,
    })),
    ...files
      .filter((file) => /\/option-[a-z]\/src\/weather\.ts$/.test(file))
      .map((file) => ({ what: `${file}, lines`, measured: linesOf(textOf(file)), max: 80 })),
    { what: 'library files, median of lines', measured: quantile(sorted, 0.5), max: 130 },
    { what: 'library files, 90th percentile of lines', measured: quantile(sorted, 0.9), max: 350 },
    { what: 'library files, lines of the longest', measured: sorted.at(-1) ?? 0, max: 500 },
    {
      what: 'library files, comments in % of lines',
      measured: Math.round((100 * comments) / sum(sorted)),
      min: 10,
      max: 25,
    },
    ...files
      .filter((file) => file === 'README.md')
      .map((file) => ({ what: `${file}, lines`, measured: linesOf(textOf(file)), max: 160 })),
  ];
}

test('every part of the house keeps to its budget', () => {
  const all = budgets();
  const keeps = ({ measured, min = 0, max }: Budget) => measured >= min && measured <= max;
  const table = all.map((budget) => {
    const { what, measured, min, max } = budget;
    const range = min === undefined ? `at most ${max}` : `${min} to ${max}`;
    return `${keeps(budget) ? '  ' : '✗ '}${what.padEnd(44)}${String(measured).padStart(5)}   ${range}`;
  });
  expect(all.filter((budget) => !keeps(budget)).length, `\n${table.join('\n')}\nbudgets broken`).toBe(0);
});

/** Every line of the project that `pattern` matches, as `file:line match`. */
function findings(pattern: RegExp): string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, at) => {
        const match = pattern.exec(line);
        return match ? [`${file}:${at + 1} ${match[0]}`] : [];
      }),
  );
}

test('no file names a package registry', () => {
  expect(
    findings(/\b(?:registry|npm|npmjs|packages?|mirrors?)\.[\w.-]*\b(?:com|org|net|io|dev|cloud)\b/i),
  ).toEqual([]);
});

test('no file names a path of the machine it was written on', () => {
  expect(findings(/\/(?:(?:work|root)\/|farm)/)).toEqual([]);
});

test('no file is named after nothing in particular', () => {
  const vague = /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\.[^/]*)?(?:\/|$)/;
  expect(files.filter((file) => vague.test(file))).toEqual([]);
});

test('every name is kebab-case, but for the documents that are customarily in capitals', () => {
  const kebab = /^\.?[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
  const document = /^[A-Z]+(?:\.md)?$/;
  const offenders = files.filter(
    (file) => !file.split('/').every((name) => kebab.test(name) || document.test(name)),
  );
  expect(offenders).toEqual([]);
});
