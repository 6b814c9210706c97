/** The alerts of docs/alerts.yml fire, in a real Prometheus that collects the metrics of the recipe. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ask, elicitation, MemoryLedger, protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { poster } from '@mrtr/harness';
import { Deferred, requestInit } from '@mrtr/harness/internal';
import { freePort, RunningProcess } from '@mrtr/harness/process';
import { serveHttp } from '@mrtr/hosting/http';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { installFolder } from '../testkit/own-lockfile.ts';

const RECIPE = new URL('../../demos/recipes/prometheus/', import.meta.url);
const isMissing = spawnSync('prometheus', ['--version']).status !== 0;

beforeAll(() => {
  installFolder(RECIPE);
  const args = ['exec', 'tsc', '-p', fileURLToPath(RECIPE)];
  const { status, stdout } = spawnSync('pnpm', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The recipe for Prometheus does not compile: ${stdout}`);
});

/** What the part of the recipe that is used here looks like from outside of its folder. */
interface Recipe {
  startMetrics(port: number): { shutdown(): Promise<void> };
}

/** Starts the recipe's exporter. Returns its address. */
async function startExporter(): Promise<string> {
  const { startMetrics }: Recipe = await import(new URL('metered.ts', RECIPE).href);
  const port = await freePort();
  const provider = startMetrics(port);
  onTestFinished(() => provider.shutdown());
  return `127.0.0.1:${port}`;
}

/** Serves tools that ask, fail and hang, and a ledger that can be broken. */
async function startServer() {
  const lease = new MemoryLedger();
  let isBroken = false;
  const released = new Deferred();
  const entered = new Deferred();
  const ledger = {
    lease: (...request: Parameters<MemoryLedger['lease']>) =>
      isBroken ? Promise.reject(new Error('The database is gone.')) : lease.lease(...request),
    settle: lease.settle.bind(lease),
    release: lease.release.bind(lease),
  };
  const policy = requestStatePolicy({ ledger, keys: ['k'.repeat(32)], onerror: () => {} });
  const sure = elicitation('Really?', z.object({ sure: z.boolean() }));
  const { url, close } = await serveHttp({
    server() {
      const server = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
      server.registerTool('ask', {}, ({ mcpReq }) =>
        mcpReq.inputResponses ? textResult('Done.') : ask({ sure }),
      );
      server.registerTool('fail', {}, () => Promise.reject(new Error('Nobody is there.')));
      server.registerTool('hang', {}, async () => {
        entered.open();
        await released.promise;
        return textResult('Done.');
      });
      return server;
    },
  });
  onTestFinished(async () => {
    released.open();
    await close();
  });
  const post = poster(url);
  return {
    post,
    async breakLedger(): Promise<void> {
      const { result } = await post('tools/call', { name: 'ask' });
      isBroken = true;
      const inputResponses = { sure: { action: 'accept', content: { sure: true } } };
      await post('tools/call', { name: 'ask', requestState: result?.requestState, inputResponses });
    },
    async hangUp(): Promise<void> {
      const client = new AbortController();
      const call = fetch(url, { ...requestInit('tools/call', { name: 'hang' }), signal: client.signal });
      await entered.promise;
      client.abort();
      await call.catch(() => {});
    },
  };
}

/** Starts Prometheus on docs/alerts.yml, with seconds for minutes. Returns the names of what fires, and a query. */
async function startPrometheus(target: string) {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-prometheus-'));
  const alerts = readFileSync('docs/alerts.yml', 'utf8')
    .replace(/\[5m\]/g, '[20s]')
    .replace(/for: \d+m/g, 'for: 2s');
  writeFileSync(join(folder, 'alerts.yml'), alerts);
  const configuration = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'mcp', static_configs: [{ targets: [target] }] }],
  };
  // YAML takes JSON.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
  const port = await freePort();
  const args = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const listen = `--web.listen-address=127.0.0.1:${port}`;
  const prometheus = new RunningProcess({ command: 'prometheus', args: [...args, listen] });
  onTestFinished(async () => {
    await prometheus.stop();
    rmSync(folder, { recursive: true });
  });
  await prometheus.until(({ err }) => /ready to receive web requests/.exec(err)?.[0]);
  const get = async (path: string) =>
    Object((await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as object).data;
  return {
    query: async (text: string): Promise<string[]> =>
      (await get(`query?query=${encodeURIComponent(text)}`)).result.map(
        ({ value }: { value: string[] }) => value[1],
      ),
    firing: async (): Promise<string[]> =>
      (await get('alerts')).alerts
        .filter(({ state }: { state: string }) => state === 'firing')
        .map(({ labels }: { labels: { alertname: string } }) => labels.alertname)
        .sort(),
  };
}

const onPrometheus = isMissing && !process.env.CI ? test.skip : test;
const WITHIN = { timeout: 60_000, interval: 500 };

onPrometheus('each alert fires at the first event that it is for, and none before', async () => {
  const { query, firing } = await startPrometheus(await startExporter());
  const { post, breakLedger, hangUp } = await startServer();
  await post('tools/call', { name: 'ask' });
  await expect.poll(() => query('mrtr_rounds_total{mrtr_outcome="input_required"}'), WITHIN).toEqual(['1']);
  // It has seen the counter twice.
  await expect
    .poll(() => query('count_over_time(mrtr_rejections_total{mrtr_reason="ledger"}[1m]) >= 4'), WITHIN)
    .toHaveLength(1);
  expect(await firing()).toEqual([]);

  await breakLedger();
  await expect.poll(firing, WITHIN).toEqual(['MrtrLedgerFails']);
  await post('tools/call', { name: 'fail' });
  await expect.poll(firing, WITHIN).toContain('MrtrCallsFail');
  await hangUp();
  await expect.poll(firing, WITHIN).toContain('MrtrHandlersHang');
});

test('the page has the names of the metrics as Prometheus has them', async () => {
  const address = await startExporter();
  const { breakLedger } = await startServer();
  await breakLedger();
  const text = await (await fetch(`http://${address}/metrics`)).text();
  const collected = [...text.matchAll(/^# TYPE (mrtr_\w+)/gm)].map(([, name]) => name);
  const page = readFileSync('docs/recipes/prometheus.md', 'utf8');
  const named = [...page.matchAll(/`(mrtr_\w+)`/g)].map(([, name]) => name);
  expect(collected.length).toBeGreaterThan(8);
  expect([...new Set(named)].sort()).toEqual(collected.sort());
});
