/** Servers of anybody's in the lab: real processes, with real clients. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventsOf } from '@mrtr/harness/transcript';
import { typescriptProgram } from '@mrtr/matrix/processes';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { Lab } from '../lab.ts';
import { Postgres } from '../postgres.ts';
import type { Fault, SideState } from '../protocol.ts';
import type { SetUp } from '../set-up.ts';
import { type OwnOptions, OwnServer } from './own-server.ts';
import { probeFrom } from './probe.ts';

const PAY = fileURLToPath(new URL('./pay.test-support.ts', import.meta.url));
const FILE = 'src/own/pay.test-support.ts';
/** The lines of the handler that run in both entries, and its two returns. */
const AGAIN = [12, 13, 14] as const;
const [ASKS, ENDS] = [15, 27];

const commandOf = (path: string, ...args: readonly string[]): string => {
  const program = typescriptProgram(path, ...args);
  return [program.command, ...program.args].map((word) => `'${word}'`).join(' ');
};

let lab: Lab;
afterEach(() => lab.close());

const stateOf = (is: (state: SideState) => boolean = () => true) => lab.until('left', is);
const isStill = ({ doing }: SideState) => doing === 'asked' || doing === 'over' || doing === 'ready';

async function open(own: Partial<OwnOptions> = {}, more: Partial<SetUp> = {}): Promise<SideState> {
  const server = commandOf(PAY);
  lab = new Lab(new Postgres(), { server, arguments: { amount: 3 }, folder: process.cwd(), ...own });
  const { setUp } = await stateOf(({ doing, problem }) => doing === 'ready' || problem !== undefined);
  if (Object.keys(more).length > 0)
    await lab.do({ do: 'set-up', side: 'left', setUp: { ...setUp, ...more } });
  return stateOf();
}

async function callUntilAsked(): Promise<SideState> {
  await lab.do({ do: 'call', side: 'left' });
  return stateOf(isStill);
}

async function answer(content: Record<string, boolean | number>, isAgent?: boolean): Promise<SideState> {
  const { asked } = await stateOf();
  if (!asked) throw new Error('No question is open.');
  const reply = { action: 'accept', content } as const;
  await lab.do({ do: 'answer', side: 'left', question: asked.id, reply, isAgent });
  return stateOf(isStill);
}

const setFault = (fault: Fault) => lab.do({ do: 'fault', side: 'left', fault });

/** The lines of each entry, by the place of the entry. */
const linesOf = ({ conversation }: SideState) =>
  eventsOf('lines', conversation.events).map(({ files }) => Object.keys(files[FILE] ?? {}).map(Number));

test('shows which lines of the author’s own file ran again, and where the handler asked and ended', async () => {
  const { own, setUp } = await open();
  expect(own?.tools.map(({ name, asks }) => [name, asks])).toEqual([['pay', undefined]]);
  expect(setUp.own?.tool).toBe('pay');
  expect(own?.source?.text.split('\n')[AGAIN[0] - 1]).toContain('paid.push(amount)');
  const { asked } = await callUntilAsked();
  expect(asked?.message).toBe('Pay 3?');
  const over = await answer({ sure: true });
  const events = over.conversation.events.map(({ kind }) => kind);
  expect(events.filter((kind) => kind === 'entry')).toHaveLength(2);
  const [first = [], second = []] = linesOf(over);
  expect(first).toEqual(expect.arrayContaining([...AGAIN, ASKS]));
  expect(second).toEqual([...AGAIN, ENDS]);
  expect(over.own?.tools[0]?.asks).toBe(true);
  expect(JSON.stringify(over.conversation.end)).toContain('Paid 2 times');
});

test('delivers the retry twice, to a second process of the command, and after a kill and a restart', async () => {
  await open({}, { instances: 'two' });
  await callUntilAsked();
  await setFault({ deliver: 'twice', to: 'i2' });
  const twice = await answer({ sure: true });
  const entries = eventsOf('entry', twice.conversation.events).map(({ instance }) => instance);
  expect(entries).toEqual(['i1', 'i2', 'i2']);
  // What i2 ran when it started is no line of the call.
  for (const lines of linesOf(twice)) expect(Math.min(...lines)).toBe(AGAIN[0]);
  await callUntilAsked();
  await lab.do({ do: 'kill', side: 'left', instance: 'i2' });
  await lab.do({ do: 'restart', side: 'left', instance: 'i2' });
  await setFault({ deliver: 'once', to: 'i2' });
  const after = await answer({ sure: true });
  expect(JSON.stringify(after.conversation.end)).toContain('Paid 1 times');
  expect(after.conversation.events.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['kill', 'restart']),
  );
});

test('an old client is asked down the stream of its call, and its handler is seen to be entered again', async () => {
  await open({}, { client: 'legacy' });
  await callUntilAsked();
  const over = await answer({ sure: true });
  expect(over.conversation.participants).toContainEqual(expect.objectContaining({ era: 'legacy' }));
  expect(eventsOf('entry', over.conversation.events)).toHaveLength(2);
});

test('an agent that says yes is an agent in the transcript, and a person who answers later is not', async () => {
  await open();
  await callUntilAsked();
  const { conversation } = await answer({ sure: true }, true);
  const agent = expect.objectContaining({ kind: 'person', isAgent: true });
  expect(conversation.participants).toContainEqual(agent);
  await callUntilAsked();
  expect((await answer({ sure: true })).conversation.participants).not.toContainEqual(agent);
});

test('finds the file of the tool, where the command names another one or none', async () => {
  const shop = fileURLToPath(new URL('./shop.test-support.ts', import.meta.url));
  const { own } = await open({ server: commandOf(shop) });
  expect(own?.source?.file).toBe('src/own/shop.test-support.ts');
  expect((await callUntilAsked()).own?.source?.file).toBe(FILE);
  expect(linesOf(await answer({ sure: true }))).toHaveLength(2);
  await lab.close();
  const hidden = await open({ server: `sh -c "${commandOf(shop).replaceAll("'", '')}"` });
  expect(hidden.own?.noLines).toMatch(/after its first call/);
  const { own: found } = await callUntilAsked();
  expect([found?.source?.file.split('/').at(-1), found?.noLines]).toEqual([
    FILE.split('/').at(-1),
    undefined,
  ]);
});

test('shows another file of the project, and says why a command shows no lines', async () => {
  const { own, setUp } = await open({ source: fileURLToPath(new URL('../lab.ts', import.meta.url)) });
  expect(own?.loaded).toEqual([FILE]);
  await lab.do({
    do: 'set-up',
    side: 'left',
    setUp: { ...setUp, own: { tool: 'pay', arguments: {}, source: '../../package.json' } },
  });
  expect((await stateOf()).problem).toBe("The server has not loaded '../../package.json'.");
  const again = { tool: 'pay', arguments: { amount: 3 }, source: FILE };
  await lab.do({ do: 'set-up', side: 'left', setUp: { ...setUp, own: again } });
  expect(linesOf(await callUntilAsked())).toHaveLength(1);
});

/** A server of another make, which counts each request of its tool. `/paid` says how many. */
async function countingServer() {
  const question = { method: 'elicitation/create', params: { message: 'Pay?', requestedSchema: {} } };
  const found = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
  const cached = { ttlMs: 0, cacheScope: 'private' };
  const results: Readonly<Record<string, object>> = {
    'server/discover': { ...found, serverInfo: { name: 'x', version: '1' }, ...cached },
    'tools/list': { tools: [{ name: 'pay', inputSchema: { type: 'object' } }], ...cached },
  };
  let paid = 0;
  const server = createServer(async (request, response) => {
    if (request.url === '/paid') return response.end(`${paid} paid\n`);
    const body = Buffer.concat(await request.toArray()).toString();
    const { id, method, params } = JSON.parse(body || '{}');
    if (method === 'tools/call') paid++;
    const done = { resultType: 'complete', content: [{ type: 'text', text: 'Paid' }] };
    const asks = { resultType: 'input_required', inputRequests: { sure: question } };
    const result = results[method] ?? (params?.inputResponses ? done : asks);
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.each(['url', 'cmd'])(
  'a change of a probe (%s) is an effect of its round, and a second one repeats it',
  async (kind) => {
    const { server, address } = await countingServer();
    onTestFinished(() => void server.close());
    const reads = `fetch('${address}/paid').then(async (one) => console.log(await one.text()))`;
    const probe = kind === 'url' ? `url:${address}/paid` : `cmd:'${process.execPath}' -e "${reads}"`;
    await open({ server: `${address}/mcp`, probe: probeFrom(probe, '.') });
    await callUntilAsked();
    const { conversation } = await answer({});
    const [first, second, ...more] = eventsOf('effect', conversation.events);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ name: 'probe', detail: '0 paid → 1 paid', instance: 'i1' });
    expect(second).toMatchObject({ detail: '1 paid → 2 paid', again: true });
    const kinds = conversation.events
      .map(({ kind }) => kind)
      .filter((one) => /effect|question|answer/.test(one));
    expect(kinds).toEqual(['effect', 'question', 'answer', 'effect']);
  },
);

test('a probe that cannot be read ends the call, which says why', async () => {
  await open({ probe: probeFrom('cmd:exit 3', '.') });
  const { conversation } = await callUntilAsked();
  expect(() => probeFrom('tool:count', '.')).toThrow(/^--probe takes url:ADDRESS or cmd:COMMAND/);
  expect(conversation.end?.error?.message).toMatch(/^the probe could not be read: Command failed: exit 3/);
});

test('says why a server cannot be opened, with what it wrote', async () => {
  const { problem, doing } = await open({
    server: `'${process.execPath}' -e 'console.error("no key"); process.exit(1)'`,
  });
  expect(problem).toMatch(/^The server did not list its tools\. The server ended: no key/);
  expect(doing).toBe('ready');
  await lab.do({ do: 'call', side: 'left' });
  const { conversation } = await stateOf(({ doing }) => doing === 'over');
  expect(conversation.end?.error?.message).toMatch(/The server ended: no key|refused/);
});

test.each([
  ['ftp//', /^--source: there is no file 'gone.ts'/, { source: 'gone.ts' }],
  ['', /^--server takes an address or a command/, {}],
  ['node x.js', /^--header goes with an address/, { headers: ['a: b'] }],
])('rejects a server that cannot be meant: %s', (server, why, more) => {
  expect(() => new OwnServer({ server, folder: process.cwd(), ...more })).toThrow(why);
});
