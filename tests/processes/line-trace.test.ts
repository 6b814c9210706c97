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
function trace(name: string, isTraced: RegExp, build: object, from = 'pay.ts'): (readonly unknown[])[] {
  const outfile = join(folder, 'dist', `${name}.cjs`);
  buildSync({ entryPoints: [join(folder, from)], outfile, format: 'cjs', ...build });
  const trace = new LineTrace((url) =>
    url.startsWith('file:') && isTraced.test(url) ? fileURLToPath(url).split(/[\\/]/).at(-1) : undefined,
  );
  try {
    // Vitest would compile what is imported.
    const { pay } = require(outfile) as { pay(sure: boolean): object };
    trace.take();
    return [false, true].map((sure) => {
      try {
        pay(sure);
      } catch {}
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

/** Statements that begin where a guard's `return` ends, if nobody keeps the white space. Line 5 follows the guard. */
const AFTER_THE_GUARD = [
  'charge(text);',
  'charge(text.trim());',
  'const fee = Number(text);',
  'let fee = 3;',
  'text.trim().at(0);',
  "for (const one of ['a']) charge(one);",
  'throw new Error(text);',
  '(() => charge(text))();',
] as const;

test.each(AFTER_THE_GUARD)(
  'a line after a guard is recorded when it ran, and not when the guard returned: %s',
  (line) => {
    const text = `const charge = (_text: string): number => 1;
export function pay(sure: boolean, text = ' a;b } '): unknown {
  if (!sure)
    return { asked: [\`sure ${'$'}{text}; )\`, /[;}]/, ';', [1, 2].map((one) => { if (one) return one; return 2; })] };
  ${line}
  return { paid: text };
}
`;
    const name = `guard-${AFTER_THE_GUARD.indexOf(line)}`;
    writeFileSync(join(folder, `${name}.ts`), text);
    const build = { sourcemap: true, minifyWhitespace: true };
    const [asked, paid] = trace(name, new RegExp(`/${name}\\.ts$`), build, `${name}.ts`);
    const [four, five] = linesOf(`${name}.ts`, 4, 5);
    expect(asked).toContainEqual(four);
    expect(asked).not.toContainEqual(five);
    expect(paid).toContainEqual(five);
  },
);
