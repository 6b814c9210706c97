/**
 * `pnpm size`: how much there is to read, and how much the published packages show. Exits with 1 above a ceiling. Sources
 * are counted in nodes of the syntax tree, which neither layout nor comments change.
 * `node --import tsx tests/house/size.ts [FOLDER]` measures another repository.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { projectFiles } from '../testkit/project-files.ts';
import { countOptions, entryPoints } from './face.ts';

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const files = projectFiles(root);

const sources = files.filter(
  (file) => /\.(?:ts|tsx|mjs)$/.test(file) && !/^tests\/|\.(?:test|proof|test-support|browser)\./.test(file),
);
const countNodes = (part: unknown): number =>
  typeof part !== 'object' || part === null
    ? 0
    : Object.values(part).reduce((sum, child) => sum + countNodes(child), 'type' in part ? 1 : 0);
const sizeOf = (file: string) => countNodes(parseSync(file, textOf(file)).program.body);

const published = files
  .filter((file) => /^packages\/[^/]+\/package\.json$/.test(file) && !JSON.parse(textOf(file)).private)
  .map((file) => file.slice(0, -'/package.json'.length));
const exported = published.flatMap((folder) => entryPoints(join(root, folder))).map((entry) => entry.exports);
const ofPackages = sources.filter((file) => published.some((folder) => file.startsWith(`${folder}/src/`)));

const markdown = files.filter((file) => file.endsWith('.md'));
const countWords = (text: string): number => text.split(/\s+/).filter(Boolean).length;

const measured: readonly (readonly [what: string, value: number, ceiling: number])[] = [
  ['nodes of source', sources.reduce((sum, file) => sum + sizeOf(file), 0), 259_700],
  ['names that the published packages export', exported.reduce((sum, { size }) => sum + size, 0), 262],
  [
    'options that a caller can give them',
    countOptions(
      exported.flatMap((names) => [...names.values()]),
      ofPackages.map((file) => join(root, file)),
    ),
    177,
  ],
  ['lines of README.md', textOf('README.md').trimEnd().split('\n').length, 160],
  ['words of Markdown', markdown.reduce((sum, file) => sum + countWords(textOf(file)), 0), 40_000],
];

for (const [what, value, ceiling] of measured) {
  const isAbove = value > ceiling;
  console.log(`${isAbove ? '✗' : ' '} ${String(value).padStart(7)} ${what}, at most ${ceiling}`);
  if (isAbove) process.exitCode = 1;
}
if (process.exitCode === 1)
  console.error('Take something out, or raise the ceiling in tests/house/size.ts and say why.');
