/** The options' server as one file: it starts in a third of the time of many, and is started a hundred times. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Leaves other people's packages where they are: only the package that depends on one finds it, so they go by file. */
const notOurs: Plugin = {
  name: 'not-ours',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === 'found' || /^(?:@mrtr\/|node:)/.test(path)) return undefined;
      const found = await resolve(path, { ...from, pluginData: 'found' });
      if (found.errors.length > 0) return found;
      return { path: pathToFileURL(found.path).href, external: true };
    });
  },
};

/** Does `work` with the file's path, and removes the file. */
export async function withBundledServer<T>(work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-check-server-'));
  const outfile = join(folder, 'server.mjs');
  try {
    await build({
      entryPoints: [fileURLToPath(new URL('./server.ts', import.meta.url))],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      conditions: ['import'],
      plugins: [notOurs],
      logLevel: 'error',
    });
    return await work(outfile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
