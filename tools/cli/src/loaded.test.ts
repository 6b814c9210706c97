/** A demo loads its own folder, and nothing of the matrix or of another demo. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);

/** A loader that writes the address of each loaded module to stderr. */
const LOADER = `export async function load(url, context, next) {
  process._rawDebug('loads ' + url);
  return next(url, context);
}`;
const moduleOf = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;
const HOOK = moduleOf(
  `import { register } from 'node:module'; register(${JSON.stringify(moduleOf(LOADER))});`,
);

/** Runs a demo. Returns the loaded files of the repository that are not published, by their paths. */
async function filesOf(name: string): Promise<string[]> {
  const run = fileURLToPath(new URL('../run.mjs', import.meta.url));
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', HOOK, run, name]);
  const loaded = [...stderr.matchAll(/^loads (file:[^?\n]+)/gm)].map(([, url = '']) => url);
  return [...new Set(loaded)]
    .filter((url) => url.startsWith(ROOT.href) && !url.includes('/node_modules/'))
    .map((url) => url.slice(ROOT.href.length))
    .filter((path) => !path.startsWith('packages/'));
}

test.concurrent.each([
  ['basic', 'basic'],
  ['option-g', 'option-g-tool-builder'],
])('%s loads at most 25 files from outside of the published packages', async (name, folder) => {
  const files = await filesOf(name);
  expect(files).toContain(`demos/${folder}/server.ts`);
  const own = new RegExp(`^(?:tools/(?:cli|postgres-server)|demos/(?:comparison|${folder}))/`);
  expect(files.filter((path) => !own.test(path))).toEqual([]);
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(25);
});
