/**
 * `pnpm interop`: foreign clients at options E and H, proxies between, and our clients at foreign servers. Prints each
 * row as it comes, and writes the tables into `docs/interop.md`. With words, only rows whose name has one of them, and
 * nothing is written.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scripted } from '@mrtr/harness';
import { updateBlocks } from '../documents/blocks.ts';
import { CLIENTS, type ForeignClient, runClient } from './clients.ts';
import { installForeign, quietEnvironment, versionOf } from './foreign.ts';
import { type Legacy, type Option, Options, TRIED } from './options.ts';
import { callWithOurs, type OurClient } from './our-client.ts';
import { PROXIES, withProxy } from './proxies.ts';
import { runServer, SERVERS } from './servers.ts';
import { type Placed, rowsOf, tableOf } from './table.ts';
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
    'interop: clients': tableOf(
      ['Client', 'Version', 'At', 'Revision', 'The question', 'The user got', 'What helps'],
      await clientRows(),
    ),
    'interop: proxies': tableOf(
      ['Between', 'Version', 'At', 'Our client', 'Revision: client, server', 'The question', 'The user got'],
      await proxyRows(),
    ),
    'interop: servers': tableOf(
      ['Server', 'Version', 'Over', 'Our client', 'Revision', 'The question', 'The user got'],
      await serverRows(),
    ),
  };
  if (words.length === 0) await updateBlocks(tables, { write: true, only: Object.keys(tables) });
} finally {
  await options.close();
  await rm(folder, { recursive: true });
}
// A foreign program that was given up on may still hold a pipe.
process.exit();

async function clientRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const client of CLIENTS.filter(({ name, package: of }) => isWanted(`${name} ${of}`))) {
    const placed: Placed<Observation & { helps: string }>[] = [];
    for (const option of TRIED) {
      for (const transport of TRANSPORTS) {
        const observation = await observe(client, option, transport);
        placed.push({
          option,
          transport,
          value: { ...observation, helps: await helpFor(observation, client, option, transport) },
        });
      }
    }
    const version = await versionOf(client.package);
    for (const { at, value } of rowsOf(placed)) {
      const { revision, question, got, helps } = value;
      rows.push(said([client.name, version, at, revision, question, got, helps]));
    }
  }
  return rows;
}

async function observe(client: ForeignClient, option: Option, transport: Transport, legacy?: Legacy) {
  const { target, wire, close } = await tapped(await options.target(option, transport, legacy), folder);
  try {
    const report = await runClient(client, target, env);
    return observed(report, await wire());
  } finally {
    await close();
  }
}

/** Where a client fails: whether it is well off when it is not asked. */
async function helpFor(seen: Observation, client: ForeignClient, option: Option, transport: Transport) {
  if (isWell(seen)) return '';
  const degraded = await observe(client, option, transport, 'degrade');
  return isWell(degraded) ? `\`--legacy degrade\`: ${degraded.got}` : 'nothing of ours';
}

async function proxyRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const proxy of PROXIES.filter(({ name }) => isWanted(name))) {
    for (const ours of OURS) {
      const placed: Placed<Observation>[] = [];
      for (const option of TRIED) {
        const value = await throughProxy(proxy, ours, await options.target(option, proxy.server));
        placed.push({ option, transport: proxy.server, value });
      }
      const version = await versionOf(proxy.package);
      for (const { at, value } of rowsOf(placed)) {
        rows.push(said([proxy.name, version, at, ours, value.revision, value.question, value.got]));
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
    const user = scripted({ units: ['imperial'] });
    const asking = { tool: 'get_weather', arguments: { location: 'Tokyo' }, user };
    const report = await callWithOurs(ours, atClient.target, asking);
    const server = await atServer.wire();
    const { revision } = await atClient.wire();
    return { ...observed(report, server), revision: `${revision}, ${server.revision}` };
  } finally {
    await atClient.close();
    await running.close();
    await atServer.close();
  }
}

async function serverRows(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const server of SERVERS.filter(({ name }) => isWanted(name))) {
    for (const ours of OURS) {
      const running = await runServer(server, env);
      const { target, wire, close } = await tapped(running.target, folder);
      const report = await callWithOurs(ours, target, server.asking());
      const { revision, question, got } = observed(report, await wire());
      await close();
      await running.close();
      const version = await versionOf(server.package);
      rows.push(said([server.name, version, server.transport, ours, revision, question, got]));
    }
  }
  return rows;
}

function said(row: string[]): string[] {
  console.log(row.join(' · '));
  return row;
}
