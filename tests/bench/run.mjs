// Builds the measured packages, lays them out as published, and runs the benchmark. It does not run from TypeScript
// like the demos: the loader that Node 20 needs names every function at run time, which slows our code but not the
// SDK's.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const stage = join(root, 'node_modules/.cache/mrtr-bench');

function run(command, args, stdio = 'inherit') {
  const { status } = spawnSync(command, args, { stdio, cwd: root });
  if (status !== 0) process.exit(status ?? 1);
}

/** Links the dependencies of the package in `folder` where the benchmark finds them. */
function layDependenciesOf(folder) {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    const source = realpathSync(join(folder, 'node_modules', name));
    const target = join(stage, 'node_modules', name);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    if (name.startsWith('@mrtr/')) layOurs(source, target);
    else symlinkSync(source, target, 'dir');
  }
}

/** One of our packages as JavaScript: its published files, or the output of tsc for a private one. */
function layOurs(source, target) {
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const compiled = join(stage, relative(root, source));
  let { exports } = manifest.publishConfig ?? manifest;
  if (manifest.publishConfig) cpSync(join(source, 'dist'), join(target, 'dist'), { recursive: true });
  else if (existsSync(compiled)) {
    cpSync(compiled, target, { recursive: true });
    exports = JSON.parse(JSON.stringify(exports).replaceAll('.ts"', '.js"'));
    // Programs that a package starts lie beside its code.
    for (const file of readdirSync(join(source, 'src')))
      if (file.endsWith('.mjs')) cpSync(join(source, 'src', file), join(target, 'src', file));
  } else return;
  writeFileSync(
    join(target, 'package.json'),
    JSON.stringify({ name: manifest.name, type: 'module', exports }),
  );
  layDependenciesOf(source);
}

rmSync(stage, { recursive: true, force: true });
// To stderr, because `--json` prints only JSON on stdout.
run('pnpm', ['--silent', 'build'], ['ignore', 2, 2]);
run('pnpm', ['--silent', 'tsc', '-p', join(here, 'tsconfig.emit.json')], ['ignore', 2, 2]);
writeFileSync(join(stage, 'package.json'), JSON.stringify({ type: 'module' }));
layDependenciesOf(join(root, 'tests'));
run(process.execPath, [join(stage, 'tests/bench/main.js'), ...process.argv.slice(2)]);
