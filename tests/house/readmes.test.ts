/** Every package and every demo has a README. A published package's README names exactly its exports. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OPTIONS } from '@mrtr/comparison/options';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from '../testkit/project-files.ts';
import { entryPoints } from './exported-names.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = projectFiles()
  // fastify's folder belongs to the recipes, and the page to the lab.
  .filter((file) => /^(?:packages|demos)\/(?!recipes\/.+\/|lab\/page\/).*package\.json$/.test(file))
  .map((file) => file.slice(0, -'/package.json'.length));
const PUBLISHED = FOLDERS.filter((folder) => !JSON.parse(textOf(`${folder}/package.json`)).private);

test('the packages that are published are found', () => {
  expect(PUBLISHED.length).toBeGreaterThan(7);
});

/** Entry points that READMEs only link to, for authors of shapes and stores; and `/kit`, which is internal. */
const UNNAMED = /\/(?:shape|seal|store|linear-store|kit)$/;

test.each(PUBLISHED)('the README of %s names each export for authors of tools once', (folder) => {
  const readme = textOf(`${folder}/README.md`);
  const named = Object.fromEntries(sectionsOf(readme).map(({ id, names }) => [id, names]));
  const [unnamed, toName] = [true, false].map((is) =>
    entryPoints(ROOT + folder).filter(({ id }) => UNNAMED.test(id) === is),
  );
  expect(named).toEqual(Object.fromEntries(toName?.map(({ id, names }) => [id, names]) ?? []));
  expect(unnamed?.filter(({ id }) => !readme.includes(`\`${id}\``))).toEqual([]);
});

test.each(FOLDERS)('every link in the README of %s leads to a file', (folder) => {
  const broken = linksOf(textOf(`${folder}/README.md`)).filter(
    (link) => !existsSync(new URL(link, new URL(`../../${folder}/`, import.meta.url))),
  );
  expect(broken).toEqual([]);
});

test('every shape has its place in the documents that compare them', () => {
  const letters = [...new Set(OPTIONS.map(({ name }) => name.charAt(0)))];
  const subpaths = Object.entries(JSON.parse(textOf('packages/shapes/package.json')).exports)
    .filter(([, source]) => /\/index\.ts$/.test(String(source)))
    .map(([subpath]) => subpath.slice(1));
  expect(Math.min(letters.length, subpaths.length)).toBeGreaterThan(5);
  const beginnings = [
    ...letters.map((letter) => ['README.md', `\\| \\*\\*${letter}\\*\\* `]),
    ...letters.map((letter) => ['docs/choosing.md', `### (. and )?${letter}( and .)?: `]),
    ...subpaths.map((subpath) => ['packages/shapes/README.md', `\\| \`${subpath}\` `]),
  ];
  const missing = beginnings.filter(([file = '', line]) => !new RegExp(`^${line}`, 'm').test(textOf(file)));
  expect(missing.map(([file, line]) => `${file} has no line that begins with ${line}`)).toEqual([]);
});

/** The sections of a README: an entry point as heading, perhaps a sentence, and a list of names. */
function sectionsOf(readme: string): { readonly id: string; readonly names: readonly string[] }[] {
  return [...readme.matchAll(/^### `(@mrtr\/[^`]+)`\n\n(?:[A-Z].+\n\n)?((?:\* .+\n(?: {2}.+\n)*)+)/gm)].map(
    ([, id = '', list = '']) => ({
      id,
      names: [...list.matchAll(/^\* ((?:`\w+`(?:, )?)+):/gm)]
        .flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
        .sort(),
    }),
  );
}

/** The relative links outside code blocks. */
const linksOf = (markdown: string): string[] =>
  [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
    ([, link = '']) => link,
  );
