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
  expect(lines).toBeGreaterThanOrEqual(15);
  expect(lines).toBeLessThanOrEqual(27);
});

test.each(OPTIONS)('the README of $folder starts its server, by hand and from a client', ({ folder, id }) => {
  const readme = textOf(`demos/${folder}/README.md`);
  const server = `demos/${folder}/server.ts`;
  expect(readme).toMatch(new RegExp(`^(?:STATE_KEY=\\S+ POSTGRES=\\S+ )?node ${server} `, 'm'));
  const [, configuration = ''] = /^```json\n([\s\S]+?)^```$/m.exec(readme) ?? [];
  expect(JSON.parse(configuration).mcpServers).toMatchObject({
    [`option-${id}`]: { command: 'node', args: [`/path/to/mrtr-shapes/${server}`] },
  });
});

test.each(OPTIONS)('$folder, and the writer of its shape, have nothing left to write', ({ folder, name }) => {
  const writer = `tools/matrix/src/scripts/writers/${name.charAt(0).toLowerCase()}.ts`;
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

/** The diffs that a README shows, as `diff FILE FILE`. */
const diffsIn = (readme: string) =>
  [...readme.matchAll(/^<!-- begin: (diff .+) -->$/gm)].map(([, name = '']) => name);

test.each(OPTIONS)('the README of $folder shows a diff of its own file, and its command', ({ folder }) => {
  const readme = textOf(`demos/${folder}/README.md`);
  const [diff = '', ...more] = diffsIn(readme);
  expect(more).toEqual([]);
  expect(diff).toContain(` demos/${folder}/`);
  expect(readme).toContain(`\ngit ${diff.replace('diff', 'diff --no-index')}\n`);
});

test('every diff that a README of an option shows is current; `pnpm matrix --write` updates it', async () => {
  const diffs = OPTIONS.flatMap(({ folder }) => diffsIn(textOf(`demos/${folder}/README.md`)));
  expect(diffs).toHaveLength(OPTIONS.length);
  expect(await updateBlocks({}, { write: false, only: diffs })).toEqual([]);
});
