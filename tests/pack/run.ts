/**
 * `pnpm pack:check`: packs the published packages, checks them, and installs them with npm in empty projects, like a
 * user. Exit code 1 on any mistake.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installFolder } from '../testkit/own-lockfile.ts';
import { installAlone } from './alone.ts';
import { lint } from './lint.ts';
import { type Packed, pack } from './packages.ts';
import { checkTypes, everyRuntime, install, runBins, runPrograms, runReport } from './project.ts';

const scratch = mkdtempSync(join(tmpdir(), 'mrtr-pack-'));
let failed = 0;

function report(what: string, problem?: string): void {
  if (problem !== undefined) failed++;
  console.log(`${problem === undefined ? 'ok  ' : 'FAIL'}  ${what}`);
  if (problem) console.log(problem.replace(/^(?=.)/gm, '        '));
}

/** The SDKs as `name@version`: the lowest that our packages accept, and those of this repository. */
function sdks(packages: readonly Packed[]): Record<'lowest' | 'newest', readonly string[]> {
  const lowest = new Set<string>();
  const newest = new Set<string>();
  for (const { manifest } of packages) {
    for (const [name, range] of Object.entries(manifest.peerDependencies ?? {})) {
      if (!name.startsWith('@modelcontextprotocol/')) continue;
      lowest.add(`${name}@${range.replace(/^\^/, '')}`);
      newest.add(`${name}@${manifest.devDependencies?.[name]}`);
    }
  }
  return { lowest: [...lowest], newest: [...newest] };
}

try {
  installFolder(new URL('tools', import.meta.url));
  const packages = await pack(scratch);
  await Promise.all(packages.map((one) => lint(one, report)));
  await installAlone(join(scratch, 'alone'), packages, report);
  const outputs = new Set<string>();
  const runtimes = everyRuntime();
  for (const [end, versions] of Object.entries(sdks(packages))) {
    console.log(`\nThe ${end} SDKs: ${versions.join(', ')}`);
    const project = await install(join(scratch, end), packages, versions);
    await checkTypes(project, report);
    await runBins(project, packages, report);
    await runReport(project, report);
    // The runtimes do not differ by SDK, so test the lowest SDK only in the oldest Node.
    const chosen = end === 'lowest' ? Object.fromEntries(Object.entries(runtimes).slice(0, 1)) : runtimes;
    for (const output of await runPrograms(project, packages, chosen, report)) outputs.add(output);
  }
  const differ = [...outputs].join('\n\n');
  report('the round trip prints the same everywhere', outputs.size === 1 ? undefined : differ);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(failed === 0 ? 'Everything is in order.' : `${failed} checks failed.`);
process.exitCode = failed === 0 ? 0 : 1;
