// node bundle.mjs [FOLDER]: makes one file of each entry of a package, after `tsc -b` has made the types. On a cold
// start a module costs what opening its file does, and a server that is started for each session starts cold.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const folder = process.argv[2] ?? '.';
const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const outdir = join(folder, 'dist');
for (const file of readdirSync(outdir, { recursive: true })) {
  if (/\.js(\.map)?$/.test(file)) rmSync(join(outdir, file));
}
buildSync({
  entryPoints: Object.values(exports).map((source) => join(folder, source)),
  outdir,
  outbase: join(folder, 'src'),
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // What two entries share stays one module, and its state one state.
  splitting: true,
  chunkNames: 'shared-[hash]',
});
