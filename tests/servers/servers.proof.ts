/** Every option's `server.ts`, started as a program, and called over stdio by clients of both eras. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { addressOf, findOption, OPTIONS } from '@mrtr/comparison/options';
import { converse, foreignHosting, modernClient, scriptedUser } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import { typescriptProgram } from '@mrtr/matrix/processes';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { expect, onTestFinished, test } from 'vitest';

const { database, missing } = await postgresOfTheRun();
const STARTED = OPTIONS.filter(({ needsPostgres }) => !needsPostgres || missing === undefined);
const KEY = randomBytes(32).toString('base64url');
const METRIC = 'Weather in Tokyo: 22°C, partly cloudy.';

const programOf = (path: string, env: Readonly<Record<string, string>> = {}) => {
  const { command, args } = typescriptProgram(path);
  return { command, args: [...args], env: { PATH: process.env.PATH ?? '', ...env } };
};

const toolCall = (name: string, args: Readonly<Record<string, unknown>>) =>
  ({ method: 'tools/call', params: { name, arguments: args } }) as const;
const call = toolCall('get_weather', { location: 'Tokyo' });

async function callServer(client: 'modern-only' | 'legacy', ...where: Parameters<typeof programOf>) {
  return callTool(client, call, { units: ['metric'] }, ...where);
}

async function callTool(
  client: 'modern-only' | 'legacy',
  call: ReturnType<typeof toolCall>,
  answers: Parameters<typeof scriptedUser>[0],
  ...where: Parameters<typeof programOf>
) {
  const user = scriptedUser(answers);
  const { end } = await converse({ client, call, user }, () =>
    foreignHosting({ kind: 'stdio', ...programOf(...where) }),
  );
  return resultText(end.result ?? {});
}

const pathOf = (id: string) => fileURLToPath(addressOf(findOption(id) as never));

test.each(STARTED.map(({ id, needsPostgres }) => [id, needsPostgres] as const))(
  'the server of option %s answers a client of each era',
  async (id, needsPostgres) => {
    const env = needsPostgres ? { POSTGRES: await database(), STATE_KEY: KEY } : {};
    for (const client of ['modern-only', 'legacy'] as const)
      expect([client, await callServer(client, pathOf(id), env)]).toEqual([client, METRIC]);
  },
);

test('the servers of basic and basic-multiround answer a client of each era, too', async () => {
  const basic = fileURLToPath(new URL('../../demos/basic/server.ts', import.meta.url));
  const multiround = fileURLToPath(new URL('../../demos/basic-multiround/server.ts', import.meta.url));
  for (const client of ['modern-only', 'legacy'] as const) {
    expect(
      await callTool(client, toolCall('deploy', { env: 'production' }), { confirm: ['Deploy'] }, basic),
    ).toBe('Deployed to production.');
    const answers = { resolution: ['Duplicate'], original: ['4301'] };
    expect(await callTool(client, toolCall('resolve', { id: 4522 }), answers, multiround)).toBe(
      '#4522 resolved as Duplicate of #4301.',
    );
  }
});

test('it is started through a symbolic link, too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-servers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const link = join(folder, 'weather.ts');
  symlinkSync(pathOf('g'), link);
  expect(await callServer('modern-only', link)).toBe(METRIC);
});

test('a program that imports the servers starts none of them, whatever its own arguments are', async () => {
  const loading = OPTIONS.map((option) => `await import(${JSON.stringify(addressOf(option))});`).join('\n');
  const args = [
    '--import',
    import.meta.resolve('tsx'),
    '--input-type=module',
    '--eval',
    `${loading}\nconsole.log('loaded')`,
  ];
  for (const argument of ['no-such-file', pathOf('g').replace('server.ts', 'weather.ts')]) {
    const { stdout } = await promisify(execFile)(process.execPath, [...args, argument]);
    expect(stdout).toBe('loaded\n');
  }
});

test('a call continues in another process with the same STATE_KEY, and in no other', async () => {
  const connect = async (STATE_KEY: string) => {
    const client = await modernClient(new StdioClientTransport(programOf(pathOf('g'), { STATE_KEY })), {
      user: () => ({ action: 'cancel' }),
    });
    onTestFinished(() => client.close());
    return (more: object): Promise<unknown> =>
      client.callTool({ ...call.params, ...more }, { allowInputRequired: true });
  };
  const [first, same, another] = [await connect(KEY), await connect(KEY), await connect(`another ${KEY}`)];
  const { requestState } = (await first({})) as { requestState: string };
  const retry = {
    requestState,
    inputResponses: { units: { action: 'accept', content: { units: 'metric' } } },
  };
  await expect(another(retry)).rejects.toMatchObject({ code: -32602 });
  expect(await same(retry)).toMatchObject({ content: [{ text: METRIC }] });
});
