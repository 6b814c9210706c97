/** The recipe for Cloudflare Workers, and F, G and J, on workerd, which is installed here and not with everything else. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningProcess } from '@mrtr/harness/process';
import { resultText } from '@mrtr/harness/transcript';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installFolder } from '../testkit/own-lockfile.ts';
import { callAs, called, keepsUsersApart, listeningAt } from './recipes.test-support.ts';

const WORKERD = new URL('workerd/', import.meta.url);

const OPTIONS = { f: 'option-f-once', g: 'option-g-tool-builder', j: 'option-j-journal' };

/** The recipe at /mcp, and the options at /f, /g and /j. */
const WORKER = `
import { createWorld } from '@mrtr/comparison';
import { requestStatePolicy } from '@mrtr/core';
import { createMcpMount } from '@mrtr/hosting/http';
import recipe from '../../demos/recipes/on-workers.ts';
${Object.entries(OPTIONS)
  .map(([letter, folder]) => `import { createServer as ${letter} } from '../../demos/${folder}/server.ts';`)
  .join('\n')}

const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] });
const world = createWorld();
const mount = (createServer) => createMcpMount({ server: () => createServer(world, policy) });
const options = Object.fromEntries(Object.entries({ f, g, j }).map(([letter, create]) => ['/' + letter, mount(create)]));
export default { fetch: (request) => (options[new URL(request.url).pathname] ?? recipe).fetch(request) };
`;

/** As Wrangler bundles a Worker. */
const bundle = (contents: string) =>
  build({
    stdin: { contents, resolveDir: new URL('.', import.meta.url).pathname, sourcefile: 'worker.js' },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
  });

const socket = (name: string) =>
  `(name = "${name}", address = "127.0.0.1:0", http = (), service = "${name}")`;

/** Two isolates of one Worker: nothing but their secrets is shared. */
const CONFIGURATION = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "one", worker = .worker), (name = "two", worker = .worker) ],
  sockets = [ ${socket('one')}, ${socket('two')} ],
);
const worker :Workerd.Worker = (
  modules = [ (name = "worker", esModule = embed "worker.js") ],
  compatibilityDate = "2026-07-01",
  compatibilityFlags = ["nodejs_compat"],
  bindings = [
    (name = "STATE_KEY", text = "a key of at least thirty-two bytes"),
    (name = "TOKENS", text = "ada=ada-secret-of-16+,bob=bob-secret-of-16+"),
  ],
);
`;

const folder = mkdtempSync(join(tmpdir(), 'mrtr-workers-'));
let workerd: RunningProcess;
const at: Record<string, URL> = {};

beforeAll(async () => {
  installFolder(WORKERD);
  const { outputFiles } = await bundle(WORKER);
  writeFileSync(join(folder, 'worker.js'), outputFiles[0]?.contents ?? '');
  writeFileSync(join(folder, 'config.capnp'), CONFIGURATION);
  const command: string = createRequire(WORKERD)('workerd').default;
  workerd = new RunningProcess({ command, args: ['serve', '--control-fd=1', join(folder, 'config.capnp')] });
  for (const name of ['one', 'two']) {
    const port = await workerd.until(
      ({ out }) => new RegExp(`"socket":"${name}","port":(\\d+)`).exec(out)?.[1],
    );
    at[name] = new URL(`http://127.0.0.1:${port}/mcp`);
  }
});

afterAll(async () => {
  await workerd?.stop();
  rmSync(folder, { recursive: true });
});

const addressOf = (name: string, path = '/mcp') => new URL(path, at[name]);

test('on Workers, another isolate serves the answer, users are kept apart, and an old client gets an error at once', () =>
  keepsUsersApart(addressOf('one'), addressOf('two'), 'stateless'));

test.each(Object.keys(OPTIONS))('on Workers, option %s asks', async (letter) => {
  const call = {
    method: 'tools/call',
    params: { name: 'get_weather', arguments: { location: 'Oslo' } },
  } as const;
  expect(await called(listeningAt(addressOf('one', `/${letter}`)), { call })).toContain('Oslo');
});

test('on Workers, two retries at once are served once', async () => {
  const asked = await callAs('ada', addressOf('two'));
  const [one, other] = await Promise.all([1, 2].map(() => callAs('ada', addressOf('two'), asked)));
  expect(resultText(one?.result ?? {})).toBe('Deployed to staging.');
  expect(other?.result).toEqual(one?.result);
});

test('the page names the modules of Node that our packages import there', async () => {
  const packages = ['core', 'hosting/http', 'shapes/once', 'shapes/tool-builder', 'shapes/journal'];
  const { metafile } = await bundle(packages.map((name) => `export * from '@mrtr/${name}';`).join('\n'));
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const page = readFileSync('docs/recipes/platforms.md', 'utf8');
  const [, list = ''] = /They import ([^.]+)\./.exec(page) ?? [];
  const named = [...list.matchAll(/`(?:node:)?([^`]+)`/g)].map(([, name]) => `node:${name}`);
  expect([...new Set(imported)].sort()).toEqual(named);
});
