/** `pnpm lab`: opens the lab on 127.0.0.1, or exports it. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Writer } from '@mrtr/harness/internal';
import { findManagers } from './managers.ts';
import type { OwnOptions } from './own/own-server.ts';
import { probeFrom } from './own/probe.ts';
import { builtPage, recordedFolder } from './page.ts';

const HELP = `Usage: pnpm lab [--port N]
       pnpm lab --server <url | command> [--tool NAME] [--arguments '{"a":1}'] [--header LINE] [--source FILE] [--probe PROBE]
       pnpm lab --export DIR
       pnpm lab --viewer DIR
       pnpm lab --test [--write]

Shows two handler shapes doing the same thing, and lets you break them.

  --port N       the port of 127.0.0.1; otherwise any free one
  --server       a server of yours, or anybody's: its address, or the command that starts it over stdio
  --tool         the tool to call first
  --arguments    its arguments, as JSON
  --header       for an address: 'Name: value'; may be given again
  --source       the file whose lines are shown; otherwise the one in which the tool's handler runs
  --probe        what shows its effects, read around each request: url:ADDRESS or cmd:COMMAND
  --export DIR   writes the page with every recording as files that open from a disk
  --viewer DIR   writes the viewer alone: one script and one style, for other pages
  --test         uses the lab in a real browser; MRTR_CHROMIUM names it, otherwise /usr/bin/chromium
  --write        with --test: replaces the pictures of the documents

H on PostgreSQL keeps its calls in the server that MRTR_POSTGRES names, or in one that is started when you choose it.
`;

/** The policy for a page on a disk, which has no headers. */
const POLICY = `<meta http-equiv="content-security-policy" content="default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src data:" />`;

const print = (text: string) => void new Writer(process.stdout).write(`${text}\n`);

function options() {
  // pnpm passes on a literal `--`.
  const args = process.argv.slice(2).filter((arg) => arg !== '--');
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string' },
      server: { type: 'string' },
      tool: { type: 'string' },
      arguments: { type: 'string' },
      header: { type: 'string', multiple: true },
      source: { type: 'string' },
      probe: { type: 'string' },
      export: { type: 'string' },
      viewer: { type: 'string' },
      test: { type: 'boolean' },
      write: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.port !== undefined && !/^\d{1,5}$/.test(values.port))
    throw new TypeError(`--port takes a number, not '${values.port}'.`);
  return values;
}

async function exportTo(folder: string) {
  const { page } = builtPage(print);
  print('Recording every option in every situation …');
  mkdirSync(folder, { recursive: true });
  for (const name of ['lab.js', 'lab.css']) cpSync(join(page, name), join(folder, name));
  const html = readFileSync(join(page, 'index.html'), 'utf8').replace('<title>', `${POLICY}\n    <title>`);
  writeFileSync(join(folder, 'index.html'), html.replace('<html ', '<html data-exported '));
  const recorded = join(folder, 'recorded');
  rmSync(recorded, { recursive: true, force: true });
  const { record } = await import('./recording-process.ts');
  await record().done;
  cpSync(recordedFolder, recorded, { recursive: true, filter: (file) => !file.endsWith('.part') });
  print(`Open ${join(folder, 'index.html')}.`);
}

type Values = ReturnType<typeof options>;

function ownOf({ server, tool, arguments: text, header, source, probe }: Values): OwnOptions | undefined {
  if (server === undefined) {
    const given = Object.entries({ tool, arguments: text, header, source, probe }).find(([, value]) => value);
    if (given) throw new TypeError(`--${given[0]} goes with --server.`);
    return undefined;
  }
  let args: unknown;
  try {
    args = JSON.parse(text ?? '{}');
  } catch {}
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw new TypeError('--arguments takes a JSON object, such as \'{"location":"Tokyo"}\'.');
  // pnpm runs scripts in the repository.
  const folder = process.env.INIT_CWD ?? process.cwd();
  return {
    server,
    tool,
    arguments: { ...args },
    headers: header,
    source,
    probe: probe === undefined ? undefined : probeFrom(probe, folder),
    folder,
  };
}

async function serve(port: number | undefined, own: OwnOptions | undefined) {
  const endWithManagers = findManagers();
  const { page } = builtPage(print);
  const { openCommandEndpoint } = await import('./command-endpoint.ts');
  // Open the command endpoint first: loading the servers' modules takes half of the start-up time.
  const lab = Promise.all([import('./lab.ts'), import('./postgres.ts')]).then(
    ([{ Lab }, { Postgres }]) => new Lab(new Postgres(process.env.MRTR_POSTGRES), own),
  );
  const endpoint = await openCommandEndpoint(lab, { page, recorded: recordedFolder }, port).catch(
    async (error: unknown) => {
      await (await lab).close();
      throw error;
    },
  );
  const address = own ? endpoint.address.replace('#', '#/live?') : endpoint.address;
  print(`The lab is open at ${address}\nIt ends with Ctrl-C.`);
  // Recordings of older code are shown until the new ones are ready. They would slow down a server of the user's own.
  const recording = own ? undefined : (await import('./recording-process.ts')).record();
  let ending = false;
  const stop = async () => {
    if (ending) return;
    ending = true;
    await Promise.allSettled([endpoint.close(), lab.then((one) => one.close()), recording?.stop()]);
    process.exit();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  endWithManagers(stop);
  recording?.done.catch((error: Error) => {
    if (!ending) new Writer(process.stderr).write(`${error.message}\n`);
  });
  await lab.catch(async (error: unknown) => {
    await endpoint.close();
    throw error;
  });
}

try {
  const values = options();
  const { help, port, export: exported, viewer, test, write = false } = values;
  if (help) print(HELP);
  else if (test) {
    const { testInBrowser } = await import('./browser-suite.ts');
    process.exitCode = await testInBrowser(write);
  } else if (viewer !== undefined) cpSync(builtPage(print).viewer, viewer, { recursive: true });
  else if (exported !== undefined) await exportTo(exported);
  else await serve(port === undefined ? undefined : Number(port), ownOf(values));
} catch (error) {
  new Writer(process.stderr).write(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
  process.exitCode = 2;
}
