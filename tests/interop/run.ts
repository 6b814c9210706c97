/**
 * `pnpm interop`: foreign clients at options E and H, and foreign proxies between our clients and them. Prints each
 * row as it comes, and writes the tables into `docs/interop.md`. With words, only rows whose name has one of them, and
 * nothing is written.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { updateBlocks } from '@mrtr/matrix/documents';
import { CLIENTS, type ForeignClient, runClient } from './clients.ts';
import { FOREIGN_NODE, installForeign, quietEnvironment, versionOf } from './foreign.ts';
import { type Legacy, type Option, Options, TRIED } from './options.ts';
import { callWithOurs, type OurClient } from './our-client.ts';
import { PROXIES, withProxy } from './proxies.ts';
import { rowsOf, tableOf } from './table.ts';
import { type Target, type Transport, tapped } from './target.ts';
import { isWell, type Observation, observed } from './wording.ts';

const words = process.argv.slice(2).map((word) => word.toLowerCase());
const isWanted = (name: string) =>
  words.length === 0 || words.some((word) => name.toLowerCase().includes(word));

const TRANSPORTS: readonly Transport[] = ['stdio', 'HTTP'];
const OURS: readonly OurClient[] = ['modern', 'legacy'];

installForeign();
const folder = await mkdtemp(join(tmpdir(), 'mrtr-interop-'));
const env = quietEnvironment(folder);
const options = new Options();
try {
  const tables = {
    'interop: run': await circumstances(),
    'interop: clients': tableOf(
      ['Client', 'Version', 'At', 'Revision', 'The question', 'The user got', 'What helps'],
      await clientRows(),
    ),
    'interop: proxies': tableOf(
      ['Between', 'Version', 'At', 'Our client', 'Revisions', 'The question', 'The user got', 'What helps'],
      await proxyRows(),
    ),
  };
  if (words.length === 0) await updateBlocks(tables, { write: true, only: Object.keys(tables) });
} finally {
  await options.close();
  await rm(folder, { recursive: true });
}
// A foreign program that was given up on may still hold a pipe.
process.exit();

async function circumstances(): Promise<string> {
  const { stdout } = await promisify(execFile)(FOREIGN_NODE, ['--version']);
  const { version, platform, arch } = process;
  const day = new Date().toISOString().slice(0, 10);
  return `Run on ${day}, on ${platform} ${arch}. Ours ran on Node ${version.slice(1)}, theirs on ${stdout.trim().slice(1)}.`;
}

async function clientRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const client of CLIENTS.filter(({ name, package: of }) => isWanted(`${name} ${of}`))) {
    const seen = new Map<string, Helped>();
    for (const option of TRIED)
      for (const transport of TRANSPORTS)
        seen.set(
          `${option} ${transport}`,
          await helped((legacy) => atOption(client, option, transport, legacy)),
        );
    for (const { at, value } of rowsOf(seen, 'all')) {
      const { revision, question, got, helps } = value;
      rows.push(said([client.name, await versionOf(client.package), at, revision, question, got, helps]));
    }
  }
  return rows;
}

async function atOption(client: ForeignClient, option: Option, transport: Transport, legacy: Legacy) {
  const { target, wire, close } = await tapped(await options.target(option, transport, legacy), folder);
  try {
    const report = await runClient(client, target, env);
    return observed(report, await wire());
  } finally {
    await close();
  }
}

interface Helped extends Observation {
  /** What the user gets when the server asks no old client; empty where nothing has to help. */
  readonly helps: string;
}

/** Observes a call; and where the user gets nothing, once more, where old clients are not asked. */
async function helped(observe: (legacy: Legacy) => Promise<Observation>): Promise<Helped> {
  const seen = await observe('shim');
  if (isWell(seen)) return { ...seen, helps: '' };
  const degraded = await observe('degrade');
  return { ...seen, helps: isWell(degraded) ? `\`--legacy degrade\`: ${degraded.got}` : 'nothing of ours' };
}

async function proxyRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const proxy of PROXIES.filter(({ name }) => isWanted(name))) {
    for (const ours of OURS) {
      const seen = new Map<string, Helped>();
      for (const option of TRIED)
        seen.set(
          `${option} ${proxy.server}`,
          await helped(async (legacy) =>
            throughProxy(proxy, ours, await options.target(option, proxy.server, legacy)),
          ),
        );
      for (const { at, value } of rowsOf(seen, proxy.server)) {
        const { revision, question, got, helps } = value;
        rows.push(
          said([proxy.name, await versionOf(proxy.package), at, ours, revision, question, got, helps]),
        );
      }
    }
  }
  return rows;
}

async function throughProxy(
  proxy: (typeof PROXIES)[number],
  ours: OurClient,
  option: Target,
): Promise<Observation> {
  const atServer = await tapped(option, folder);
  const running = await withProxy(proxy, atServer.target, env);
  const atClient = await tapped(running.target, folder);
  try {
    const report = await callWithOurs(ours, atClient.target);
    const server = await atServer.wire();
    const { revision } = await atClient.wire();
    const revisions = revision === server.revision ? revision : `${revision} → ${server.revision}`;
    return { ...observed(report, server), revision: revisions };
  } finally {
    await atClient.close();
    await running.close();
    await atServer.close();
  }
}

function said(row: string[]): string[] {
  console.log(row.join(' · '));
  return row;
}
