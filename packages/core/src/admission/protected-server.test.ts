import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ask } from '../answers/ask.ts';
import { elicitation } from '../questions/elicitation.ts';
import { oldClient } from './hosted.test-support.ts';
import { type RequestStatePolicy, requestStatePolicy } from './policy.ts';
import { protectedServer } from './protected-server.ts';

const INFO = { name: 'shop', version: '1.0.0' };
const sure = elicitation('Sure?', z.object({ sure: z.boolean() }));

/** A server that asks in every round. */
const insatiable = (policy: RequestStatePolicy, options?: Parameters<typeof protectedServer>[2]) => () => {
  const server = protectedServer(INFO, policy, options);
  server.registerTool('ask', {}, () => ask({ sure }));
  return server;
};

const answer = () => ({ action: 'accept', content: { sure: true } });

test.each([{}, { inputRequired: { legacyShim: true } }])(
  'the SDK’s shim asks no client under the policy `degrade`, also with %j',
  async (options) => {
    const user = vi.fn(answer);
    const server = insatiable(requestStatePolicy({ legacy: 'degrade' }), options);
    expect(await (await oldClient({ server }, user)).callTool({ name: 'ask' })).toMatchObject({
      isError: true,
    });
    expect(user).not.toHaveBeenCalled();
  },
);

test('the shim asks as often as the policy allows, also beyond its own default of eight', async () => {
  const user = vi.fn(answer);
  const client = await oldClient(
    { server: insatiable(requestStatePolicy({ limits: { rounds: 12 } })) },
    user,
  );
  expect(await client.callTool({ name: 'ask' })).toEqual({
    content: [
      {
        type: 'text',
        text: "This call still needs input after 12 rounds. It asked 'sure' 12 times. Start it again.",
      },
    ],
    isError: true,
  });
  expect(user).toHaveBeenCalledTimes(12);
});

test('the author sets all other options of the SDK', async () => {
  const options = { instructions: 'Ask nicely.', inputRequired: { maxRounds: 1 } };
  const client = await oldClient({ server: insatiable(requestStatePolicy(), options) }, answer);
  expect(client.getInstructions()).toBe('Ask nicely.');
  expect(client.getServerVersion()).toEqual(INFO);
  expect(await client.callTool({ name: 'ask' })).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('after 1 rounds') }],
    isError: true,
  });
});

test('a server without a name, or without a policy, is rejected', () => {
  expect(() => protectedServer(undefined as never, requestStatePolicy())).toThrow(
    'protectedServer: name must be a text that is not empty; it is undefined.',
  );
  expect(() => protectedServer(INFO, undefined as never)).toThrow('protectedServer: policy must be');
});
