/** Every package, demo and tool has a README. A published package's README names exactly its exports. And the pages of docs. */
import { basename } from 'node:path';
import { OPTIONS } from '@mrtr/comparison/options';
import { expect, test } from 'vitest';
import { publishedFolders } from '../pack/packages.ts';
import { projectFiles, textOf } from '../testkit/project-files.ts';
import { entryPoints } from './face.ts';

const PUBLISHED = publishedFolders().map((folder) => [basename(folder), folder] as const);

test('the packages that are published are found', () => {
  expect(PUBLISHED.length).toBeGreaterThan(7);
});

test('every package, demo and tool has a README', () => {
  const files = projectFiles();
  const manifests = files.filter((file) => /^(?:packages|demos|tools)\/[^/]+\/package\.json$/.test(file));
  expect(manifests.length).toBeGreaterThan(30);
  expect(files).toEqual(
    expect.arrayContaining(manifests.map((file) => file.replace('package.json', 'README.md'))),
  );
});

/** Entry points that READMEs only link to, for authors of shapes and stores. */
const UNNAMED = /\/(?:shape|seal|store|linear-store)$/;

test.each(PUBLISHED)('the README of %s names each export for authors of tools once', (name, folder) => {
  const readme = textOf(`packages/${name}/README.md`);
  const named = Object.fromEntries(sectionsOf(readme).map(({ id, names }) => [id, names]));
  const [unnamed, toName] = [true, false].map((is) =>
    entryPoints(folder).filter(({ id }) => UNNAMED.test(id) === is),
  );
  expect(named).toEqual(
    Object.fromEntries(toName?.map(({ id, exports }) => [id, [...exports.keys()]]) ?? []),
  );
  expect(unnamed?.filter(({ id }) => !readme.includes(`\`${id}\``))).toEqual([]);
});

test('every shape has its place in the documents that compare them', () => {
  const letters = [...new Set(OPTIONS.map(({ name }) => name.charAt(0)))];
  const subpaths = Object.entries(JSON.parse(textOf('packages/shapes/package.json')).exports)
    .filter(([, source]) => /^\.\/src\/.+\/index\.ts$/.test(String(source)))
    .map(([subpath]) => subpath.slice(1));
  expect(Math.min(letters.length, subpaths.length)).toBeGreaterThan(4);
  const beginnings = [
    ...letters.map((letter) => ['README.md', `\\| \\*\\*${letter}\\*\\* `, `row for ${letter}`]),
    ...letters.map((letter) => [
      'docs/choosing.md',
      `### (. and )?${letter}( and .)?: `,
      `heading '### ${letter}: …'`,
    ]),
    ...subpaths.map((subpath) => ['packages/shapes/README.md', `\\| \`${subpath}\` `, `row for ${subpath}`]),
  ];
  const missing = beginnings.filter(([file = '', line]) => !new RegExp(`^${line}`, 'm').test(textOf(file)));
  expect(missing.map(([file, , what]) => `${file} needs a ${what}`)).toEqual([]);
});

test('every page of docs begins with the question that it answers', () => {
  const pages = projectFiles().filter((file) => /^docs\/.+\.md$/.test(file));
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((file) => !/^# .+\n\n\*\*[^*]+\?\*\*/.test(textOf(file)))).toEqual([]);
});

test('the glossary has at most thirty terms', () => {
  const terms = textOf('docs/glossary.md').match(/^\* \*\*.+\*\*/gm) ?? [];
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(30);
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
