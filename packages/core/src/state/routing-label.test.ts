import { inputRequired } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { beginCall, PLAN, sure, YES } from '../admission/asking.test-support.ts';
import { eventsOf, hostTools } from '../admission/hosted.test-support.ts';
import { withNotes } from '../admission/shape-notes.ts';
import { InvalidDefinition } from '../errors.ts';
import { textResult } from '../results.ts';
import { tokenLength } from './codec.ts';
import { EMPTY, KEY, NOW, OTHER_KEY, open, seal } from './sealed.test-support.ts';

const CONTENT = { ...EMPTY, payload: PLAN };
const [PLAIN, I2] = [seal(PLAN), seal(PLAN, { routingLabel: 'i2' })];
const bare = (token: string) => token.slice(0, token.indexOf('~'));

test.each([
  ['changed', `${bare(I2)}~i3`, 'tampered'],
  ['shorter', I2.slice(0, -1), 'tampered'],
  ['removed', bare(I2), 'tampered'],
  ['added', `${PLAIN}~i2`, 'tampered'],
  ['added and empty', `${PLAIN}~`, 'malformed'],
  ['moved to the front', `v1.~i2${I2.slice(3, -3)}`, 'malformed'],
  ['followed by a line break', `${I2}\n`, 'malformed'],
  ['spelt with a letter that looks the same', `${bare(I2)}~і2`, 'malformed'],
  ['65 characters long', `${bare(I2)}~${'i'.repeat(65)}`, 'malformed'],
])('a token whose label is %s is rejected', (_what, token, detail) => {
  expect(open(token, {}, NOW, [KEY, OTHER_KEY])).toEqual({ rejected: { reason: 'invalid', detail } });
});

test.each(['', '-i2', 'i~2', 'i2\n', 'i/2', 'ï2', 'i'.repeat(65)])(
  'the label %j is rejected at sealing, and is not in the error',
  (label) => {
    expect(() => seal(PLAN, { routingLabel: label })).toThrow(
      new InvalidDefinition(
        'A routing label has 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-", and begins with a letter or a ' +
          'digit. This one does not.',
      ),
    );
  },
);

/** A tool that asks once and labels its state. */
const site = (label: string | undefined, stateBytes?: number) =>
  hostTools(
    (server) => {
      server.registerTool('deploy', {}, (ctx) => {
        if (ctx.mcpReq.requestState() === PLAN) return textResult('Done.');
        const asked = inputRequired({ inputRequests: { sure: sure.request }, requestState: PLAN });
        return withNotes(asked, { routingLabel: label });
      });
    },
    { limits: { stateBytes } },
  );

test('a result with a label has it on the wire, and every instance opens the next round', async () => {
  const states = eventsOf('mrtr:state');
  const retry = await beginCall(site('i2'));
  expect(retry.requestState).toMatch(/^v1\.[\w-]+~i2$/);
  const reply = await site('i3').post('tools/call', { ...retry, inputResponses: YES });
  expect(reply.result).toMatchObject(textResult('Done.'));
  expect(states.map(({ phase, bytes }) => [phase, bytes])).toEqual([
    ['sealed', retry.requestState.length],
    ['opened', retry.requestState.length],
  ]);
});

test('the label counts towards the limit of state', async () => {
  const fits = tokenLength(['sure'], CONTENT);
  expect((await site(undefined, fits).post('tools/call', { name: 'deploy' })).result).toBeDefined();
  expect((await site('i2', fits).post('tools/call', { name: 'deploy' })).error).toMatchObject({
    code: -32603,
  });
  expect((await site('i2', fits + 3).post('tools/call', { name: 'deploy' })).result).toBeDefined();
});

test('a label that a token cannot carry is an error without details for the client', async () => {
  const { post, errors } = site('10.0.0.1:80');
  expect(await post('tools/call', { name: 'deploy' })).toEqual({
    error: { code: -32603, message: 'The server cannot keep the state of this call' },
  });
  expect(errors).toEqual([expect.stringMatching(/^InvalidDefinition/)]);
});
