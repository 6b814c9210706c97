/**
 * `pnpm pack:check`: packs what is published, checks the packages, and installs them with npm in empty projects, as a
 * stranger would. Exit code 1 if anything is wrong. `--sdk 2.1.0` tries that version of the SDK instead of both ends of
 * the range, `--keep` leaves the projects in place.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installFolder } from '../testkit/own-lockfile.ts';
import { lint } from './lint.ts';
import { type Manifest, pack } from './packages.ts';
import { checkTypes, install, runPrograms } from './project.ts';
import { bundleSizes, tarballSizes } from './sizes.ts';

const SDK = '@modelcontextprotocol/server';

const { values } = parseArgs({ options: { sdk: { type: 'string' }, keep: { type: 'boolean' } } });
const scratch = mkdtempSync(join(tmpdir(), 'mrtr-pack-'));
let failed = 0;

function report(what: string, problem?: string): void {
  if (problem !== undefined) failed++;
  console.log(`${problem === undefined ? 'ok  ' : 'FAIL'}  ${what}`);
  if (problem) console.log(problem.replace(/^(?=.)/gm, '        '));
}

/** The lowest version of the SDK that our packages take, and the one that this repository is developed with. */
function sdkVersions({ peerDependencies, devDependencies }: Manifest): string[] {
  const lowest = peerDependencies?.[SDK]?.replace(/^\^/, '');
  const newest = devDependencies?.[SDK];
  if (!lowest || !newest)
    throw new Error(`@mrtr/core has to name ${SDK} as a peer and a development dependency.`);
  return [lowest, newest];
}

try {
  installFolder(new URL('tools', import.meta.url));
  const packages = pack(scratch);
  await Promise.all(packages.map((one) => lint(one, report)));
  for (const one of packages) tarballSizes(one, report);
  const core = packages.find(({ manifest }) => manifest.name === '@mrtr/core');
  if (!core) throw new Error('There is no @mrtr/core.');
  const outputs = new Set<string>();
  for (const version of values.sdk === undefined ? sdkVersions(core.manifest) : [values.sdk]) {
    console.log(`\nSDK ${version}`);
    const project = await install(join(scratch, `sdk-${version}`), packages, version);
    if (outputs.size === 0) await bundleSizes(project, packages, report);
    await checkTypes(project, report);
    for (const output of await runPrograms(project, packages, report)) outputs.add(output);
  }
  const differ = [...outputs].join('\n\n');
  report('the round trip prints the same everywhere', outputs.size === 1 ? undefined : differ);
} finally {
  if (values.keep) console.log(`The projects are in ${scratch}.`);
  else rmSync(scratch, { recursive: true, force: true });
}
console.log(failed === 0 ? 'Everything is in order.' : `${failed} checks failed.`);
process.exitCode = failed === 0 ? 0 : 1;
