import { expect, test } from 'vitest';
import { z } from 'zod';
import { elicitation } from './elicitation.ts';
import { oldClient } from './hosted.test-support.ts';
import { textResult } from './results.ts';
import { protectedServer } from './server.ts';
import { type RequestStatePolicy, requestStatePolicy } from './state/policy.ts';
import { inputRequired } from './wire.ts';

const INFO = { name: 'shop', version: '1.0.0' };
const sure = elicitation('Sure?', z.object({ sure: z.boolean() }));

function asking(policy: RequestStatePolicy, options: Parameters<typeof protectedServer>[2] = {}) {
  const server = protectedServer(INFO, policy, options);
  server.registerTool('ask', {}, (ctx) =>
    ctx.mcpReq.inputResponses
      ? textResult('Done.')
      : inputRequired({ inputRequests: { sure: sure.request } }),
  );
  return server;
}

const answer = () => ({ action: 'accept', content: { sure: true } });

test('the SDK’s shim asks old clients where the policy says so', async () => {
  const client = await oldClient({ server: () => asking(requestStatePolicy({ legacy: 'shim' })) }, answer);
  expect(await client.callTool({ name: 'ask' })).toEqual(textResult('Done.'));
});

test('the SDK’s shim asks nobody where the policy degrades old clients', async () => {
  const client = await oldClient({ server: () => asking(requestStatePolicy({ legacy: 'degrade' })) }, answer);
  await expect(client.callTool({ name: 'ask' })).rejects.toMatchObject({ code: -32603 });
});

test('the policy decides over the shim even where the SDK’s own options say otherwise', async () => {
  const options = { inputRequired: { legacyShim: true } };
  const server = () => asking(requestStatePolicy({ legacy: 'degrade' }), options);
  await expect((await oldClient({ server }, answer)).callTool({ name: 'ask' })).rejects.toMatchObject({
    code: -32603,
  });
});

test('the rest of the SDK’s options is the author’s', async () => {
  const options = { instructions: 'Ask nicely.', inputRequired: { maxRounds: 1 } };
  const server = () => {
    const server = protectedServer(INFO, requestStatePolicy(), options);
    server.registerTool('ask', {}, () => inputRequired({ inputRequests: { sure: sure.request } }));
    return server;
  };
  const client = await oldClient({ server }, answer);
  expect(client.getInstructions()).toBe('Ask nicely.');
  expect(client.getServerVersion()).toEqual(INFO);
  expect(await client.callTool({ name: 'ask' })).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('after 1 rounds') }],
    isError: true,
  });
});
