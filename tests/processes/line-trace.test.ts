/** The lines that a trace records of a program that was built. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LineTrace } from '@mrtr/harness';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SOURCE = `export function pay(sure: boolean): object {
  const paid = Number(sure);
  if (!sure)
    return { asked: 'sure' };
  return { paid };
}
`;

const require = createRequire(import.meta.url);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mrtr-trace-'));
  writeFileSync(join(folder, 'pay.ts'), SOURCE);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The lines that ran in each call, by the last part of their file's name. */
function trace(name: string, isTraced: RegExp, build: object): (readonly unknown[])[] {
  const outfile = join(folder, 'dist', `${name}.cjs`);
  buildSync({ entryPoints: [join(folder, 'pay.ts')], outfile, format: 'cjs', ...build });
  const trace = new LineTrace((url) =>
    url.startsWith('file:') && isTraced.test(url) ? fileURLToPath(url).split(/[\\/]/).at(-1) : undefined,
  );
  try {
    // Vitest would compile what is imported.
    const { pay } = require(outfile) as { pay(sure: boolean): object };
    trace.take();
    return [false, true].map((sure) => {
      pay(sure);
      return trace.take()?.order ?? [];
    });
  } finally {
    trace.close();
  }
}

const linesOf = (file: string, ...lines: readonly number[]) => lines.map((line) => [file, line]);

test.each([
  ['its map stands beside it', { sourcemap: true }],
  ['its map has no text of the sources', { sourcemap: true, sourcesContent: false }],
  ['a return begins where another one ends', { sourcemap: true, minifyWhitespace: true }],
])('the author’s lines are recorded where %s', (_where, build) => {
  const [asked, paid] = trace(`built-${JSON.stringify(build).length}`, /\/pay\.ts$/, build);
  expect(asked).toEqual(linesOf('pay.ts', 2, 3, 4));
  expect(paid).toEqual(linesOf('pay.ts', 2, 3, 5));
});

test('the compiled lines are recorded where no map is, or it cannot be read', () => {
  const footer = { js: '//# sourceMappingURL=gone.map' };
  for (const [name, build] of Object.entries({ plain: {}, broken: { footer } })) {
    const [asked, paid] = trace(name, new RegExp(`/${name}\\.cjs$`), build);
    const compiled = readFileSync(join(folder, 'dist', `${name}.cjs`), 'utf8').split('\n');
    const first = compiled.findIndex((line) => line.includes('const paid')) + 1;
    expect(asked).toEqual(linesOf(`${name}.cjs`, first, first + 1, first + 2));
    expect(paid).toEqual(linesOf(`${name}.cjs`, first, first + 1, first + 3));
  }
});
