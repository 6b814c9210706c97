/** publint and "are the types wrong" on a tarball, and what it holds. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Packed, Report } from './packages.ts';
import { ROOT } from './packages.ts';

const TOOLS = join(ROOT, 'tests/pack/tools/node_modules/.bin');

/** Checks a tarball. */
export function lint({ manifest, tarball, files }: Packed, report: Report): void {
  report(`${manifest.name}: publint, strict`, problems('publint', ['run', '--strict', tarball]));
  const types = ['--profile', 'node16', '--no-emoji', '--no-color', '--format', 'ascii', tarball];
  report(`${manifest.name}: types of each entry point, in both formats`, problems('attw', types));
  const strays = files.filter((file) => !BELONGS.test(file));
  const missing = ['LICENSE', 'README.md'].filter((file) => !files.includes(file));
  const wrong = [...strays.map((file) => `stray: ${file}`), ...missing.map((file) => `missing: ${file}`)];
  report(`${manifest.name}: ${files.length} files, and only what belongs`, wrong.join('\n') || undefined);
}

const BELONGS =
  /^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json|[\w.-]+\.schema\.json|dist\/cjs\/package\.json|dist\/[\w./-]+\.(?:js|d\.ts)(?:\.map)?|src\/(?!.*\.(?:test|test-support|proof)\.ts$)[\w./-]+\.ts)$/;

/** What a tool says that finds something; undefined where it finds nothing. */
function problems(tool: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(join(TOOLS, tool), args, { encoding: 'utf8' });
  return status === 0 ? undefined : `${stdout}${stderr}` || `${tool} ended with ${status}.`;
}
