/** Blocks of Markdown that a program writes: measured tables, outputs of commands, files that run, and their diffs. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = new URL('../../../../', import.meta.url);
const BLOCK = /^(<!-- begin: (.+) -->\n)[\s\S]*?^(<!-- end: \2 -->)$/gm;

/** Blocks that the matrix does not write: tests/check/document.test.ts and `pnpm interop` do. */
const WRITTEN_ELSEWHERE = /^(?:check|interop): /;

export interface Updating {
  readonly write: boolean;
  /** The measured tables alone, the quoted files and outputs alone, or these names. Default: all. */
  readonly only?: 'measured' | 'quoted' | readonly string[];
}

/**
 * Updates the blocks. The name of a block is a measured table, a `pnpm <command>` whose output it holds, the path of a
 * source file that it shows, or `diff <file> <file>`.
 *
 * @returns the blocks that were not up to date, as `file: name`.
 */
export async function updateBlocks(tables: Readonly<Record<string, string>>, { write, only }: Updating) {
  const stale: string[] = [];
  const folders = ['docs', 'packages', 'demos', 'tools'].map((folder) => `${folder}/*.md`);
  const files = await git('ls-files', '-co', '--exclude-standard', '-z', 'README.md', ...folders);
  for (const file of files.split('\0').filter(Boolean)) {
    const before = await readFile(new URL(file, ROOT), 'utf8');
    let after = before;
    for (const [block, begin, name = '', end] of before.matchAll(BLOCK)) {
      if (!isWanted(name, only)) continue;
      const now = `${begin}\n${await contentOf(name, tables)}\n\n${end}`;
      if (now !== block) stale.push(`${file}: ${name}`);
      after = after.replace(block, () => now);
    }
    if (write && after !== before) await writeFile(new URL(file, ROOT), after);
  }
  return stale;
}

function isWanted(name: string, only: Updating['only']) {
  if (Array.isArray(only)) return only.includes(name);
  // Tables are named by a word, quotations by a path or a command.
  const kind = /^[a-z-]+$/.test(name) ? 'measured' : 'quoted';
  return !WRITTEN_ELSEWHERE.test(name) && (only === undefined || only === kind);
}

async function contentOf(name: string, tables: Readonly<Record<string, string>>) {
  const table = tables[name];
  if (table !== undefined) return table;
  if (name.startsWith('pnpm ')) return fence('text', await outputOf(name.split(' ').slice(1)));
  if (name.startsWith('diff ')) return fence('diff', await diffOf(name.split(' ').slice(1)));
  const language = /\.(ts|conf|cfg)$/.exec(name)?.[1];
  if (language) return fence(language, await readFile(new URL(name, ROOT), 'utf8'));
  throw new Error(
    `Nothing generates a block named '${name}'. It is a table, a 'pnpm …' command, a 'diff …' of two files, or a .ts, .conf or .cfg file.`,
  );
}

const fence = (language: string, text: string) => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

async function outputOf([script, ...args]: string[]) {
  const run = fileURLToPath(new URL('tools/cli/run.mjs', ROOT));
  const all = script === 'demo' ? args : [script ?? '', ...args];
  const { stdout } = await promisify(execFile)(process.execPath, [run, ...all], {
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  });
  return stdout.replaceAll(/[ \t]+$/gm, '').replace(/^\n+/, '');
}

/** The lines of two files that differ, without headers, line numbers and imports. */
async function diffOf(files: readonly string[]) {
  const args = ['diff', '--no-index', '--no-color', '--no-ext-diff', '--', ...files];
  const differing = await git(...args).catch((error: { readonly code: unknown; readonly stdout: string }) => {
    // Git exits with 1 if the files differ.
    if (error.code === 1 && error.stdout) return error.stdout;
    throw error;
  });
  const hunks = differing.replaceAll(/^@@ .*$/gm, '@@');
  if (!hunks) throw new Error(`'diff ${files.join(' ')}' is empty: the files are the same.`);
  return hunks
    .slice(hunks.indexOf('@@'))
    .replaceAll(/^[ +-](?:import\b[^;]*|\} from .*);\n/gm, '')
    .replaceAll(/^@@\n(?:[ +-]?(?: {2}[\w ]+,)?\n)+/gm, '@@\n')
    .replaceAll(/^(?:@@\n)+/gm, '@@\n');
}

/** The output of Git with its own defaults. */
async function git(...args: readonly string[]) {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  return (await promisify(execFile)('git', args, { cwd: fileURLToPath(ROOT), env })).stdout;
}
