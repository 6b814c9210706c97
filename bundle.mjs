// node bundle.mjs [FOLDER]: makes what a package publishes in `dist`, after `tsc -b` has made the types there.
//
// `dist` holds ES modules, one file for each entry: on a cold start a module costs what opening its file does, and a
// server that is started for each session starts cold. `dist/cjs` holds the same files as CommonJS, with the same types:
// in a folder of CommonJS they are types of CommonJS, and lead to the SDK's.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const folder = process.argv[2] ?? '.';
const { exports, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const esm = join(folder, 'dist');
const cjs = join(esm, 'cjs');
const shared = { platform: 'node', target: 'node20', sourcemap: 'linked', sourcesContent: false };

rmSync(cjs, { recursive: true, force: true });
for (const file of filesIn(esm)) if (/\.js(\.map)?$/.test(file)) rmSync(join(esm, file));
buildSync({
  ...shared,
  // A worker is a file of its own as well.
  entryPoints: [...Object.values(exports), ...Object.values(bin), './src/worker.ts']
    .filter((source) => /^\.\/src\/.*\.[jt]s$/.test(source) && existsSync(join(folder, source)))
    .map((source) => join(folder, source)),
  outdir: esm,
  outbase: join(folder, 'src'),
  bundle: true,
  packages: 'external',
  format: 'esm',
  // What two entries share stays one module, and its state one state.
  splitting: true,
  chunkNames: 'shared-[hash]',
});

// Nobody requires a program.
const programs = Object.values(bin).map((source) => source.replace('./src/', '').replace(/\.ts$/, '.js'));
const copied = filesIn(esm).filter((file) => !programs.some((program) => file.startsWith(program)));
for (const file of copied.filter((name) => /\.(js|d\.ts)(\.map)?$/.test(name))) {
  mkdirSync(join(cjs, file, '..'), { recursive: true });
  const text = readFileSync(join(esm, file), 'utf8');
  writeFileSync(join(cjs, file), file.endsWith('.map') ? text.replaceAll('"../', '"../../') : text);
}
// Written first: in a folder of CommonJS, esbuild takes the default export of an ES module that is required.
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
buildSync({
  ...shared,
  // esbuild does not split CommonJS, so what it has split already is translated.
  entryPoints: filesIn(cjs)
    .filter((file) => file.endsWith('.js'))
    .map((file) => join(cjs, file)),
  outdir: cjs,
  outbase: cjs,
  allowOverwrite: true,
  format: 'cjs',
  // CommonJS has no `import.meta`.
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  // `import()` would load the SDK a second time, as ES modules.
  supported: { 'dynamic-import': false },
});

/** The paths of the files in `of`, below it. */
function filesIn(of) {
  return readdirSync(of, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(of.length + 1));
}
