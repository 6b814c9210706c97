import { requestStatePolicy } from '@mrtr/core';
import { InProcess } from '@mrtr/harness';
import { expect, onTestFinished, test } from 'vitest';
import { createServer } from './server.ts';

/** A client that makes each round itself, so that it can send wrong requests. */
async function client() {
  const policy = requestStatePolicy({ keys: ['a key of at least thirty-two bytes'], singleUse: false });
  const site = new InProcess(() => createServer(policy));
  onTestFinished(() => site.close());
  const client = await site.modern({ capabilities: { elicitation: {} } });
  return (env: string, more: object = {}): Promise<unknown> =>
    client.callTool({ name: 'deploy', arguments: { env }, ...more }, { allowInputRequired: true });
}

const yes = { inputResponses: { confirm: { action: 'accept', content: { confirm: 'Deploy' } } } };

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
