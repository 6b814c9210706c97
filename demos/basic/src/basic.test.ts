import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { requestStatePolicy } from '@mrtr/core';
import { InProcess } from '@mrtr/harness';
import { expect, onTestFinished, test } from 'vitest';
import { createServer } from './server.ts';

test('the program prints the four messages and the question, always the same', () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const run = () => spawnSync(process.execPath, ['--import', 'tsx', main], { encoding: 'utf8' });
  const { status, stdout, stderr } = run();
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "client → {"method":"tools/call","params":{"name":"deploy","arguments":{"env":"production"}}}
    server ← {"result":{"resultType":"input_required","inputRequests":{"confirm":{"method":"elicitation/create","params":{"mode":"form","message":"Really deploy to production?","requestedSchema":"(a form)"}}},"requestState":"(sealed, 139 characters)"}}

      The user reads "Really deploy to production?" and says yes.

    client → {"method":"tools/call","params":{"name":"deploy","arguments":{"env":"production"},"inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}},"requestState":"(sealed, 139 characters)"}}
    server ← {"result":{"content":[{"type":"text","text":"Deployed to production."}],"resultType":"complete"}}
    "
  `);
});

/** A client that makes each round itself, so that it can send wrong requests. */
async function client() {
  const policy = requestStatePolicy({ keys: ['a key of at least thirty-two bytes'], singleUse: false });
  const site = new InProcess(() => createServer(policy));
  onTestFinished(() => site.close());
  const client = await site.modern({ capabilities: { elicitation: {} } });
  return (env: string, more: object = {}): Promise<unknown> =>
    client.callTool({ name: 'deploy', arguments: { env }, ...more }, { allowInputRequired: true });
}

const yes = { inputResponses: { confirm: { action: 'accept', content: { confirm: true } } } };

test('a yes without a question deploys nothing', async () => {
  const deploy = await client();
  expect(await deploy('production', yes)).toMatchObject({ resultType: 'input_required' });
});

test('a yes to staging does not count for production', async () => {
  const deploy = await client();
  const { requestState } = (await deploy('staging')) as { requestState: string };
  await expect(deploy('production', { ...yes, requestState })).rejects.toMatchObject({ code: -32602 });
  expect(await deploy('staging', { ...yes, requestState })).toMatchObject({
    content: [{ type: 'text', text: 'Deployed to staging.' }],
  });
});
