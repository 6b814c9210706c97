/** Programs of ours as JavaScript: they start in a third of the time of our sources, and no loader slows their code. */
import { rename } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Leaves foreign packages out, by their file: only the package that depends on one can resolve it. */
const notOurs: Plugin = {
  name: 'not-ours',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (/^(?:@mrtr\/|node:)/.test(path) || pluginData === 'found') return undefined;
      const found = await resolve(path, { ...from, pluginData: 'found' });
      return { path: pathToFileURL(found.path).href, external: true, errors: found.errors };
    });
  },
};

/** Writes the program as one file with all our code, and returns the file. */
export async function bundle(source: URL, name = basename(source.pathname, '.ts')): Promise<string> {
  const file = fileURLToPath(new URL(`../node_modules/.cache/bundles/${name}.mjs`, import.meta.url));
  // Another test file may do this at the same time.
  const own = `${file}.${process.pid}`;
  await build({
    entryPoints: [fileURLToPath(source)],
    bundle: true,
    outfile: own,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    plugins: [notOurs],
    logLevel: 'error',
  });
  await rename(own, file);
  return file;
}
