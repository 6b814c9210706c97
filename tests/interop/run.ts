/** `pnpm interop`: foreign clients at options E and H, and foreign proxies between our clients and them. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { updateBlocks } from '@mrtr/matrix/documents';
import { markdownTable } from 'markdown-table';
import { CLIENTS, type ForeignClient, runClient } from './clients.ts';
import { updateClients } from './clients-document.ts';
import { FOREIGN_NODE, installForeign, quietEnvironment, versionOf } from './foreign.ts';
import { isWell, type Measurement, measurementOf } from './measurement.ts';
import { callWithOurs, type OurClient } from './our-client.ts';
import { type ForeignProxy, PROXIES, withProxy } from './proxies.ts';
import { type Legacy, Options, type Target, TRIED, type Transport, tapped } from './target.ts';

const HELP = `Usage: pnpm interop [name...]
       pnpm interop --read

Installs clients and proxies from npm (1 GB), calls options E and H with them,
prints each row as it comes, and writes the tables of docs/interop.md. With
names, it runs only rows whose name contains one of them, and writes nothing.

Options:
  --read      run nothing: write the tables of docs/clients.md from docs/clients.json
  -h, --help  print this
`;

const { values: flags, positionals } = readArguments();
if (flags.help) {
  process.stdout.write(HELP);
  process.exit();
}
if (flags.read) {
  for (const block of await updateClients(true)) console.log(`Rewrote ${block}`);
  process.exit();
}
const words = positionals.map((word) => word.toLowerCase());
const isWanted = (name: string) =>
  words.length === 0 || words.some((word) => name.toLowerCase().includes(word));

const OURS: readonly OurClient[] = ['modern', 'legacy'];

installForeign();
const folder = await mkdtemp(join(tmpdir(), 'mrtr-interop-'));
const env = quietEnvironment(folder);
const options = new Options();
try {
  const clients = [['Client', 'Version', 'At', 'Revision', 'The question', 'The user got']];
  for (const client of CLIENTS.filter(({ name, package: of }) => isWanted(`${name} ${of}`)))
    clients.push(...(await rowsFor(client, ['stdio', 'HTTP'], (target) => atOption(client, target))));
  const proxies = [['Between', 'Version', 'At', 'Our client', 'Revisions', 'The question', 'The user got']];
  for (const proxy of PROXIES.filter(({ name }) => isWanted(name)))
    for (const ours of OURS)
      proxies.push(
        ...(await rowsFor(proxy, [proxy.server], (target) => throughProxy(proxy, ours, target), [ours])),
      );
  const tables = {
    'interop: run': await circumstances(),
    'interop: clients': markdownTable(joinAlike(clients), { padding: true, alignDelimiters: false }),
    'interop: proxies': markdownTable(joinAlike(joinClients(proxies)), {
      padding: true,
      alignDelimiters: false,
    }),
  };
  if (words.length === 0) await updateBlocks(tables, { write: true, only: Object.keys(tables) });
} finally {
  await options.close();
  await rm(folder, { recursive: true });
}
// A foreign program may still hold a pipe.
process.exit();

function readArguments() {
  try {
    return parseArgs({
      // pnpm passes on a literal `--`.
      args: process.argv.slice(2).filter((arg) => arg !== '--'),
      options: { read: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    console.error(`${(error as Error).message}\nMore: pnpm interop --help`);
    process.exit(2);
  }
}

/** Makes one row of programs with the same measurement. */
function joinAlike([head = [], ...rows]: readonly (readonly string[])[]): string[][] {
  const programs = new Map<string, Map<string, string[]>>();
  for (const [name = '', version = '', ...rest] of rows) {
    const key = JSON.stringify(rest);
    const alike = programs.get(key) ?? new Map<string, string[]>();
    programs.set(key, alike.set(name, [...(alike.get(name) ?? []), version]));
  }
  const joined = [...programs].map(([key, alike]) => [
    [...alike].map(([name, versions]) => `${name} ${versions.join(', ')}`).join('; '),
    ...(JSON.parse(key) as string[]),
  ]);
  return [[`${head[0]}`, ...head.slice(2)], ...joined];
}

/** Makes one row of a proxy with the same measurement for both of our clients. */
function joinClients([head = [], ...rows]: readonly (readonly string[])[]): string[][] {
  const at = head.indexOf('Our client');
  const joined = new Map<string, string[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.toSpliced(at, 1));
    const before = joined.get(key);
    joined.set(key, before ? before.with(at, `${before[at]}, ${row[at]}`) : [...row]);
  }
  return [[...head], ...joined.values()];
}

async function circumstances(): Promise<string> {
  const { stdout } = await promisify(execFile)(FOREIGN_NODE, ['--version']);
  const { version, platform, arch } = process;
  const day = new Date().toISOString().slice(0, 10);
  return `Run on ${day}, on ${platform} ${arch}. Ours ran on Node ${version.slice(1)}, theirs on ${stdout.trim().slice(1)}.`;
}

/** Measures both options over each transport. Equal measurements become one row, with all their places. */
async function rowsFor(
  { name, package: of }: { readonly name: string; readonly package: string },
  transports: readonly Transport[],
  measure: (target: Target) => Promise<Measurement>,
  more: readonly string[] = [],
): Promise<string[][]> {
  const places = new Map<string, string[]>();
  for (const option of TRIED)
    for (const transport of transports) {
      const seen = await cellsOf(async (legacy) => measure(await options.target(option, transport, legacy)));
      const key = JSON.stringify(seen);
      places.set(key, [...(places.get(key) ?? []), `${option} ${transport}`]);
    }
  const everywhere = transports.length > 1 ? 'all' : transports.join();
  const version = await versionOf(of);
  return [...places].map(([seen, at]) => {
    const row = [name, version, places.size === 1 ? everywhere : at.join(', '), ...more, ...JSON.parse(seen)];
    console.log(row.join(' · '));
    return row;
  });
}

/** Measures a call. If the user gets nothing, measures it again with old clients not asked. */
async function cellsOf(measure: (legacy: Legacy) => Promise<Measurement>): Promise<string[]> {
  const seen = await measure('shim');
  const cells = [seen.revision, seen.question];
  if (isWell(seen)) return [...cells, seen.got];
  const degraded = await measure('degrade');
  const then = isWell(degraded) ? degraded.got : 'the same';
  return [...cells, `${seen.got}; \`--legacy degrade\`: ${then}`];
}

async function atOption(client: ForeignClient, option: Target): Promise<Measurement> {
  const { target, wire, close } = await tapped(option, folder);
  try {
    return measurementOf(await runClient(client, target, env), await wire());
  } finally {
    await close();
  }
}

async function throughProxy(proxy: ForeignProxy, ours: OurClient, option: Target): Promise<Measurement> {
  const atServer = await tapped(option, folder);
  const running = await withProxy(proxy, atServer.target, env);
  const atClient = await tapped(running.target, folder);
  try {
    const report = await callWithOurs(ours, atClient.target);
    const server = await atServer.wire();
    const { revision } = await atClient.wire();
    const revisions = revision === server.revision ? revision : `${revision} → ${server.revision}`;
    return { ...measurementOf(report, server), revision: revisions };
  } finally {
    await atClient.close();
    await running.close();
    await atServer.close();
  }
}
