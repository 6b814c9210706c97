/** Runs publint and "are the types wrong" on a tarball, and checks its files. */
import { join } from 'node:path';
import type { Packed, Report } from './packages.ts';
import { ROOT } from './packages.ts';
import { run } from './program.ts';

const TOOLS = join(ROOT, 'tests/pack/tools/node_modules/.bin');

export async function lint({ manifest, tarball, files }: Packed, report: Report): Promise<void> {
  // What the packages share among themselves has no types.
  const types = [
    '--exclude-entrypoints',
    'internal',
    '--profile',
    'node16',
    '--no-emoji',
    '--no-color',
    '--format',
    'ascii',
    tarball,
  ];
  const [publint, attw] = await Promise.all([
    run(join(TOOLS, 'publint'), ['run', '--strict', tarball], ROOT),
    run(join(TOOLS, 'attw'), types, ROOT),
  ]);
  report(`${manifest.name}: publint, strict`, publint.problem);
  report(`${manifest.name}: types of each entry point, in both formats`, attw.problem);
  const strays = files.filter((file) => !BELONGS.test(file));
  const missing = ['LICENSE', 'README.md'].filter((file) => !files.includes(file));
  const wrong = [...strays.map((file) => `stray: ${file}`), ...missing.map((file) => `missing: ${file}`)];
  report(`${manifest.name}: ${files.length} files, and only what belongs`, wrong.join('\n') || undefined);
}

const BELONGS =
  /^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json|[\w.-]+\.schema\.json|(?:dist|src)\/wire\/schema-[\d-]+\.json|dist\/cjs\/package\.json|viewer\/viewer\.(?:js|css)|dist\/[\w./-]+\.(?:js|d\.ts)(?:\.map)?|src\/internal\.js|src\/(?!.*\.(?:test|test-support|proof)\.ts$)[\w./-]+\.ts)$/;
