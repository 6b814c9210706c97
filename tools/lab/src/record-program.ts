/**
 * `node record-program.ts FOLDER`: records every option in every situation, and writes FOLDER/index.js and a script for
 * each recording. It writes scripts, because a page from a disk can load scripts but not fetch JSON. It is a program of
 * its own, because the trace sees everything that runs in its process.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measured } from '@mrtr/comparison/calls';
import { keepOpen, type ListedOption, loadOption, OPTIONS } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { LineTrace } from '@mrtr/harness';
import { authorsFile } from '@mrtr/matrix/processes';
import { recordBranches } from './branches.ts';
import { measuredRow } from './measured.ts';
import { Postgres } from './postgres.ts';
import type { Recording, Recordings } from './protocol.ts';
import { record, SITUATIONS } from './situations.ts';

const [folder = ''] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const trace = new LineTrace(authorsFile);
const rows: Recordings['rows'][number][] = [];
let columns: Recordings['columns'] = [];
const about: Record<string, string> = {};
const missing: Record<string, string> = {};

/** Writes a file atomically: the page may load it at any time. */
function write(name: string, value: Recording | Recordings) {
  const file = join(folder, `${name}.js`);
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, `mrtrRecorded(${JSON.stringify(value)});\n`);
  renameSync(part, file);
}

async function recordOption(option: Measured & Pick<ListedOption, 'name' | 'title'>) {
  const { id, name, title } = option;
  for (const situation of SITUATIONS) {
    const recording = await record(option, situation, trace);
    about[recording.id] = recording.about;
    const transcript = { ...recording.transcript, title: `${name} · ${title}` };
    write(recording.id, { ...recording, transcript });
  }
  const { cells, ...row } = await measuredRow(option);
  columns = row.columns;
  rows.push({ option: id, name, title, cells });
}

/** Records an option that stores its calls in a database. */
async function onItsDatabase(listed: ListedOption) {
  const server = new Postgres();
  try {
    const postgres = await server.database();
    const close = await keepOpen({
      policy: requestStatePolicy({ keys: [randomBytes(32)], singleUse: false }),
      postgres,
    });
    await recordOption(await loadOption(listed, postgres));
    await close();
  } finally {
    await server.stop();
  }
}

for (const listed of OPTIONS) {
  if (!listed.needsPostgres) await recordOption(await loadOption(listed));
  else
    await onItsDatabase(listed).catch((error: Error) => {
      missing[listed.id] = `No PostgreSQL could be started here: ${error.message}`;
    });
}
await recordBranches(trace, (recording) => write(recording.id, recording));
write('index', { columns, rows, about, missing });
trace.close();
process.exit();
