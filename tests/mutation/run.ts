/**
 * `pnpm mutate [file…]`: changes the given files, or those of `targets.ts`, in many small ways, and counts the changes
 * that no test notices. Exit code 1 if a score is too low, or if docs/mutation.md and the survivors differ.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installFolder } from '../testkit/own-lockfile.ts';
import { copyRepository } from './copy.ts';
import { readExplained, tableOf } from './document.ts';
import { type FileResult, faultsOf, resultOf } from './judge.ts';
import { runStryker } from './stryker.ts';
import { groupByPackage, TARGETS } from './targets.ts';

const USAGE = `Usage: pnpm mutate [file…]

  file  a source file of a package; by default the targets of tests/mutation/targets.ts
`;

const ROOT = new URL('../../', import.meta.url);
const DOCUMENT = new URL('docs/mutation.md', ROOT);

try {
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function run(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' } },
  });
  if (values.help) {
    console.log(USAGE);
    return true;
  }
  const groups = groupByPackage(positionals.length > 0 ? positionals : TARGETS, ROOT);
  const explained = readExplained(readFileSync(DOCUMENT, 'utf8'));
  installFolder(new URL('tools', import.meta.url));
  const copy = copyRepository(fileURLToPath(ROOT));
  const results: FileResult[] = [];
  for (const group of groups) {
    const mutated = await runStryker(copy, group);
    for (const file of group.files)
      results.push(resultOf(file, mutated[file] ?? { source: '', mutants: [] }));
  }
  return report(results, faultsOf(results, explained, TARGETS));
}

function report(results: readonly FileResult[], faults: readonly string[]): boolean {
  console.log(`\n${tableOf(results)}\n`);
  for (const { survivors } of results)
    for (const { file, line, key } of survivors) console.log(`${file}:${line}  \`${key}\``);
  console.log(faults.length === 0 ? '\nEverything is in order.' : `\n${faults.join('\n')}`);
  return faults.length === 0;
}
