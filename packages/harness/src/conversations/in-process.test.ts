import { expect, onTestFinished, test } from 'vitest';
import { deployer } from '../deployer.test-support.ts';
import { callerNamed } from '../hosts/posting.ts';
import { InProcess } from './in-process.ts';

const site = () => {
  const served = new InProcess(deployer);
  onTestFinished(() => served.close());
  return served;
};
const call = { name: 'deploy', arguments: { env: 'staging' } };
const elicit = () => ({ action: 'accept', content: { sure: true } }) as const;

test('a client of each era makes the same call', async () => {
  const { modern, legacy } = {
    modern: await site().modern({ elicit }),
    legacy: await site().legacy({ elicit }),
  };
  for (const client of [modern, legacy]) {
    expect((await client.callTool(call)).content).toEqual([{ type: 'text', text: 'Deployed to staging.' }]);
  }
});

test('rounds can be posted by hand, past any client', async () => {
  const { post } = site();
  const asked = await post('tools/call', call);
  expect(asked).toMatchObject({ status: 200, result: { resultType: 'input_required' } });
  const retry = { ...call, inputResponses: { sure: elicit() }, requestState: asked.result?.requestState };
  expect((await post('tools/call', retry, { authInfo: callerNamed('ada') })).result?.content).toEqual([
    { type: 'text', text: 'Deployed to staging.' },
  ]);
  expect((await post('tools/call', call, { capabilities: {} })).error?.code).toBe(-32021);
  expect((await post('tools/list', '{}', { legacy: true })).result).toHaveProperty('tools');
});
