/** Every package and every demo has a README, which names what is exported, and nothing else. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OPTIONS } from '@mrtr/options';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from '../testkit/project-files.ts';
import { entryPoints } from './exported-names.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = projectFiles()
  // fastify's folder is a part of the recipes, and the page one of the lab.
  .filter((file) => /^(?:packages|demos)\/(?!recipes\/.+\/|lab\/page\/).*package\.json$/.test(file))
  .map((file) => file.slice(0, -'/package.json'.length));
// An option exports itself, to the list of options.
const OF_NAMES = FOLDERS.filter((folder) => !/^packages\/options\/[a-z]-/.test(folder));

test.each(OF_NAMES)('the README of %s names each export once', (folder) => {
  const readme = textOf(`${folder}/README.md`);
  const named = Object.fromEntries(sectionsOf(readme).map(({ id, names }) => [id, names]));
  const exported = Object.fromEntries(entryPoints(ROOT + folder).map(({ id, names }) => [id, names]));
  expect(named).toEqual(exported);
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
    ...letters.map((letter) => ['docs/choosing.md', `## (. and )?${letter}( and .)?: `]),
    ...subpaths.map((subpath) => ['packages/shapes/README.md', `\\| \`${subpath}\` `]),
  ];
  const missing = beginnings.filter(([file = '', line]) => !new RegExp(`^${line}`, 'm').test(textOf(file)));
  expect(missing.map(([file, line]) => `${file} has no line that begins with ${line}`)).toEqual([]);
});

/** A section has its entry point as its heading, perhaps a sentence, and names as the items of its list. */
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

/** Relative links, without what is in blocks of code. */
const linksOf = (markdown: string): string[] =>
  [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
    ([, link = '']) => link,
  );
