/** Builds the page and the recordings when they are missing or stale. The page's tools are outside the workspace. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const root = join(here, '../..');
const pageFolder = join(here, 'page');

/** The folder of the built page. It is not committed, and removed with `node_modules`. */
const cache = join(root, 'node_modules/.cache/mrtr-lab');

export const recordedFolder = join(cache, 'recorded');

const PAGE_IS_OF = [
  'tools/lab/page/build.mjs',
  'tools/lab/page/src',
  'tools/lab/page/index.html',
  'tools/lab/page/package.json',
  'tools/lab/page/pnpm-lock.yaml',
  'tools/lab/page/sources-plugin.ts',
  'tools/lab/page/tsconfig.json',
  'tools/lab/page/vite.config.ts',
  'packages/harness/src/transcript',
  'packages/harness/transcript.schema.json',
  'demos',
  'tools/matrix/src/deploy',
];

const RECORDINGS_ARE_OF = ['packages', 'demos', 'tools/matrix/src', 'tools/lab/src'];

function filesIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const file = join(path, entry.name);
    if (entry.isDirectory()) return /^(?:node_modules|dist)$/.test(entry.name) ? [] : filesIn(file);
    return /\.(?:ts|tsx|css)$/.test(entry.name) ? [file] : [];
  });
}

function digest(parts: readonly string[], version: string) {
  const hash = createHash('sha256').update(version);
  for (const part of parts.map((one) => join(root, one))) {
    for (const file of /\.\w+$/.test(part) ? [part] : filesIn(part).sort())
      hash.update(relative(root, file)).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Tells whether the last build used the current files. Call `begin` before a build and `end` after it. */
function stampOf(name: string, parts: readonly string[], version = '') {
  const stamp = join(cache, name);
  const now = digest(parts, version);
  return {
    isFresh: existsSync(stamp) && readFileSync(stamp, 'utf8') === now,
    begin: () => rmSync(stamp, { force: true }),
    end: () => writeFileSync(stamp, now),
  };
}

// The page is the same on every Node, and what is recorded on one may differ.
export const recordingsStamp = () => stampOf('recorded-of', RECORDINGS_ARE_OF, process.version);

function run(args: readonly string[], failure: string) {
  // Print only failures: the lab's own output is its address.
  const { status, stdout, stderr } = spawnSync('pnpm', args, {
    cwd: pageFolder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${failure}\n${stdout ?? ''}${stderr ?? ''}`);
}

export function installTools() {
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--loglevel=error'];
  run(args, "The page's tools could not be installed.");
}

/** The folders of the built page and of the viewer. `say` is called before something that takes seconds. */
export function builtPage(say: (text: string) => void) {
  const folders = { page: join(cache, 'page'), viewer: join(cache, 'viewer') };
  const stamp = stampOf('built-of', PAGE_IS_OF);
  if (stamp.isFresh) return folders;
  say('Building the page …');
  stamp.begin();
  // Another version of the page may need another format.
  recordingsStamp().begin();
  rmSync(recordedFolder, { recursive: true, force: true });
  installTools();
  run(['exec', 'node', 'build.mjs', cache], 'The page could not be built.');
  stamp.end();
  return folders;
}
