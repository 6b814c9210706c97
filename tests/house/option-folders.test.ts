/** The folder of each option: a server that runs by itself, and the README that starts it and shows its difference. */
import { readdirSync } from 'node:fs';
import { OPTIONS } from '@mrtr/comparison/options';
import { updateBlocks } from '@mrtr/matrix/documents';
import { expect, test } from 'vitest';
import { textOf } from '../testkit/project-files.ts';

const FILES = ['README.md', 'claims.ts', 'package.json', 'server.ts', 'weather.ts', 'work-item.ts'];

test.each(OPTIONS)('$folder has a short server, two tools, claims and a README', ({ folder }) => {
  expect(readdirSync(new URL(`../../demos/${folder}`, import.meta.url))).toEqual(
    expect.arrayContaining(FILES),
  );
  const lines = textOf(`demos/${folder}/server.ts`).trimEnd().split('\n').length;
  expect(lines).toBeGreaterThanOrEqual(12);
  expect(lines).toBeLessThanOrEqual(27);
});

test.each(OPTIONS)(
  'the README of $folder starts its server by hand, and links to how a client does',
  ({ folder }) => {
    const readme = textOf(`demos/${folder}/README.md`);
    expect(readme).toMatch(
      new RegExp(`^(?:STATE_KEY=\\S+ POSTGRES=\\S+ )?node demos/${folder}/server.ts$`, 'm'),
    );
    expect(readme).toContain('](../comparison/README.md#start-an-option)');
  },
);

test('the README of the comparison starts an option from a client', () => {
  const readme = textOf('demos/comparison/README.md');
  const [, configuration = ''] = /^```json\n([\s\S]+?)^```$/m.exec(readme) ?? [];
  const folders = OPTIONS.map(({ folder, id }) => ({
    [`option-${id}`]: { command: 'node', args: [`/path/to/mrtr-shapes/demos/${folder}/server.ts`] },
  }));
  expect(folders).toContainEqual(JSON.parse(configuration).mcpServers);
});

test.each(OPTIONS)('$folder, and the writer of its shape, have nothing left to write', ({ folder, name }) => {
  const writer = `tools/matrix/src/outlines/writers/${name.charAt(0).toLowerCase()}.ts`;
  const unfinished = [...FILES.map((file) => `demos/${folder}/${file}`), writer].filter((file) =>
    textOf(file).includes('TODO'),
  );
  expect(unfinished).toEqual([]);
});

test('every shape of @mrtr/shapes runs the shape contract', () => {
  const { exports } = JSON.parse(textOf('packages/shapes/package.json'));
  const shapes = Object.entries(exports).flatMap(([subpath, source]) =>
    /^\.\/src\/[^/]+\/index\.ts$/.test(String(source)) ? [subpath.slice(2)] : [],
  );
  expect(shapes.length).toBeGreaterThan(4);
  const without = shapes.filter(
    (shape) => !textOf(`tests/shapes/${shape}.test.ts`).includes('shapeContract('),
  );
  expect(without).toEqual([]);
});

/** The diffs that the README of an option shows, as `diff FILE FILE`. */
const diffsIn = (folder: string) =>
  [...textOf(`demos/${folder}/README.md`).matchAll(/^<!-- begin: (diff .+) -->$/gm)].map(
    ([, name = '']) => name,
  );
const DIFFS = OPTIONS.flatMap(({ folder }) => diffsIn(folder));

test.each(OPTIONS)(
  'the README of $folder shows a diff of its own file, or links to it, and its command',
  ({ folder }) => {
    const readme = textOf(`demos/${folder}/README.md`);
    const [, one = '', other = ''] = /^git diff --no-index (\S+) (\S+)$/m.exec(readme) ?? [];
    expect([one, other].filter((file) => file.startsWith(`demos/${folder}/`))).toHaveLength(1);
    const shown = DIFFS.filter((diff) => [`diff ${one} ${other}`, `diff ${other} ${one}`].includes(diff));
    expect(shown).toHaveLength(1);
    const neighbour = (one + other).replace(/demos\/|\/weather\.ts/g, '').replace(folder, '');
    if (!diffsIn(folder).includes(`${shown}`))
      expect(readme).toContain(`](../${neighbour}/README.md#beside-`);
  },
);

test('every diff that a README of an option shows is current; `pnpm matrix --write` updates it', async () => {
  expect(DIFFS.length).toBeGreaterThan(OPTIONS.length / 2);
  expect(await updateBlocks({}, { write: false, only: DIFFS })).toEqual([]);
});
