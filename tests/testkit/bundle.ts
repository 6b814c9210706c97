/** Bundles our programs as JavaScript: they start three times as fast, and no loader slows their code. */
import { readFile, rename } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { addressOf, OPTIONS } from '@mrtr/comparison/options';
import { build, type Plugin } from 'esbuild';

/** Leaves out foreign packages, and imports them by file: only the dependent package can resolve them by name. */
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

/** Imports the options that are in the bundle, by their URLs. */
const ofOptions = OPTIONS.map(addressOf)
  .flatMap((server) => [server, new URL('claims.ts', server).href])
  .map((url) => `'${url}': () => import('${fileURLToPath(url)}')`);

/** Our modules find files from where their source stands, no option is the program, and all options are in the bundle. */
const asSources: Plugin = {
  name: 'as-sources',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      loader: 'ts',
      contents: (await readFile(path, 'utf8'))
        .replaceAll('import.meta.url', `'${pathToFileURL(path)}'`)
        .replaceAll('import.meta.filename', `'${path}'`)
        .replaceAll(/import\(\s*\/\* @vite-ignore \*\/ (.+?)\s*\);/g, `({ ${ofOptions} })[$1]();`),
    }));
  },
};

/** For CommonJS in a bundle: it requires what Node has. */
const REQUIRE = `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);`;

/**
 * Writes the program as one file with all our code, and returns the file.
 *
 * @param isWhole with foreign packages too, so that it opens no other file. For a program without our packages.
 */
export async function bundle(
  source: URL,
  name = basename(source.pathname, extname(source.pathname)),
  isWhole = false,
): Promise<string> {
  const file = fileURLToPath(new URL(`../node_modules/.cache/bundles/${name}.mjs`, import.meta.url));
  // Another test file may bundle it at the same time.
  const own = `${file}.${process.pid}`;
  await build({
    entryPoints: [fileURLToPath(source)],
    bundle: true,
    outfile: own,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    ...(isWhole ? { banner: { js: REQUIRE } } : { plugins: [notOurs, asSources] }),
    logLevel: 'error',
  });
  await rename(own, file);
  return file;
}
