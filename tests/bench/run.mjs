// Builds what is measured, lays it out as it is published, and runs it. Not from its TypeScript like the demos: the
// loader that Node 20 needs for that names every function at run time, which costs our code what it spares the SDK's.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const stage = join(root, 'node_modules/.cache/mrtr-bench');
const modules = join(stage, 'node_modules');

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', cwd: root });
  if (status !== 0) process.exit(status ?? 1);
}

/** One package as its consumers get it: `dist` in the place of `src`. */
function lay(folder) {
  const source = join(root, 'packages', folder);
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const target = join(modules, manifest.name);
  mkdirSync(target, { recursive: true });
  cpSync(join(source, 'dist'), join(target, 'dist'), { recursive: true });
  // Programs that a package starts lie beside its code.
  for (const file of readdirSync(source))
    if (file.endsWith('.mjs')) cpSync(join(source, file), join(target, file));
  const exports = Object.entries(manifest.exports ?? {}).map(([path, file]) => [
    path,
    file.replace('./src/', './dist/').replace(/\.ts$/, '.js'),
  ]);
  writeFileSync(
    join(target, 'package.json'),
    JSON.stringify({ name: manifest.name, type: 'module', exports: Object.fromEntries(exports) }),
  );
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const link = join(modules, name);
    if (name.startsWith('@mrtr/')) lay(name.slice('@mrtr/'.length));
    else {
      mkdirSync(dirname(link), { recursive: true });
      rmSync(link, { force: true });
      symlinkSync(realpathSync(join(source, 'node_modules', name)), link, 'dir');
    }
  }
}

run(join(root, 'node_modules/.bin/tsc'), ['-b', here]);
for (const folder of ['core', 'shapes']) run(process.execPath, ['bundle.mjs', join('packages', folder)]);
rmSync(stage, { recursive: true, force: true });
lay('bench');
if (readdirSync(modules).length === 0) throw new Error('Nothing was built.');
run(process.execPath, [join(modules, '@mrtr/bench/dist/main.js'), ...process.argv.slice(2)]);
