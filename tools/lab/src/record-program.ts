/**
 * `node record-program.ts FOLDER`: records every option in every situation, and every choice of a lesson. Writes
 * FOLDER/index.js and a script for each recording. It writes scripts, because a page from a disk can load scripts but not
 * fetch JSON. It is a program of its own, because a trace sees everything that runs in its process.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepOpen, type ListedOption, loadOption, OPTIONS } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { BRANCH_SCRIPTS, recordApprovals } from './branches.ts';
import { Lab } from './lab.ts';
import { measureRow, QUESTIONS } from './measured.ts';
import { play } from './play.ts';
import { Postgres } from './postgres.ts';
import type { Recording, Recordings } from './protocol.ts';
import { SIDES, type SideName } from './set-up.ts';
import { situationsOf } from './situations.ts';

const [folder = ''] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const postgres = new Postgres();

/** Writes a file atomically: the page may load it at any time. */
function write(name: string, value: Recording | Recordings) {
  const file = join(folder, `${name}.js`);
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, `mrtrRecorded(${JSON.stringify(value)});\n`);
  renameSync(part, file);
}

/** Measures the table's rows. `url` is the database of the options that store their calls. */
async function measureRows(options: readonly ListedOption[], url: string | undefined) {
  const policy = requestStatePolicy({ keys: [randomBytes(32)], singleUse: false });
  const close = url === undefined ? undefined : await keepOpen({ policy, postgres: url });
  const rows: Recordings['rows'][number][] = [];
  for (const listed of options) {
    const { id, name, title } = listed;
    rows.push({ option: id, name, title, cells: await measureRow(await loadOption(listed, url)) });
  }
  await close?.();
  return rows;
}

const missing: Record<string, string> = {};
const url = await postgres.database().catch(({ message }: Error) => {
  for (const { id, needsPostgres } of OPTIONS)
    if (needsPostgres) missing[id] = `No PostgreSQL could be started here: ${message}`;
  return undefined;
});
const options = OPTIONS.filter(({ id }) => missing[id] === undefined);
const situations = options.flatMap(({ id }) => situationsOf(id));
// Each side plays the next script that is left.
const left = [...situations, ...BRANCH_SCRIPTS].values();
const lab = new Lab(postgres);
const playOn = async (side: SideName) => {
  for (const script of left) write(script.id, await play(lab, side, script));
};
try {
  // Not at the same time: the recordings hold how long each step took.
  const rows = await measureRows(options, url);
  await Promise.all(SIDES.map(playOn));
  await recordApprovals((recording) => write(recording.id, recording));
  const about = Object.fromEntries(situations.map((one) => [one.id, one.about]));
  write('index', { columns: QUESTIONS, rows, about, missing });
} finally {
  await lab.close();
}
process.exit();
