/** The label that a server's own router reads: what it says, what it must not allow, and what it leaves as it was. */
import { createDecipheriv } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callOf } from '../call.ts';
import { InvalidLabel } from '../errors.ts';
import { eventsOf, hosted } from '../hosted.test-support.ts';
import { textResult } from '../results.ts';
import { inputRequired } from '../wire.ts';
import { PLAN, REJECTED, sure, YES } from './asking.test-support.ts';
import { tokenLength } from './codec.ts';
import { isRoutingLabel, routeBy } from './routing-label.ts';
import { BINDING, bytesOf, KEY, NOW, OTHER_KEY, open, SEAL, seal } from './sealed.test-support.ts';

const OPENED = { payload: PLAN, round: 1, id: expect.any(String), expiresAt: NOW + 600 };
const [PLAIN, I1, I2] = [undefined, 'i1', 'i2'].map((routingLabel) => seal(PLAN, { routingLabel })) as [
  string,
  string,
  string,
];
const bare = (token: string) => token.slice(0, token.indexOf('~'));

test('a token ends in its label and opens with it', () => {
  expect(I2).toMatch(/^v1\.[\w-]+~i2$/);
  expect(open(I2)).toEqual(OPENED);
  expect(I2).toHaveLength(tokenLength(PLAN.length, 'i2'));
  expect(tokenLength(PLAN.length, 'i2')).toBe(tokenLength(PLAN.length) + '~i2'.length);
});

test.each([
  ['without a label is sealed as it always was', PLAIN, ''],
  ['with a label has it as associated data, and nothing else of it inside', I2, '~i2'],
])('a token %s', (_what, token, label) => {
  const bytes = bytesOf(label ? bare(token) : token);
  const decipher = createDecipheriv('aes-256-gcm', KEY.cipher, bytes.subarray(2, 14));
  decipher.setAAD(Buffer.concat([Buffer.from('v1.'), KEY.id, Buffer.from(label)]));
  decipher.setAuthTag(bytes.subarray(-16));
  const plain = Buffer.concat([decipher.update(bytes.subarray(14, -16)), decipher.final()]);
  expect(plain.subarray(26).toString()).toBe(PLAN);
});

test.each([
  ['changed', `${bare(I2)}~i3`, 'tampered'],
  ['changed in case', `${bare(I2)}~I2`, 'tampered'],
  ['longer', `${I2}2`, 'tampered'],
  ['shorter', I2.slice(0, -1), 'tampered'],
  ['removed', bare(I2), 'tampered'],
  ['emptied', `${bare(I2)}~`, 'malformed'],
  ['doubled', `${I2}~i2`, 'malformed'],
  ['added', `${PLAIN}~i2`, 'tampered'],
  ['added and empty', `${PLAIN}~`, 'malformed'],
  ['taken from another token', `${bare(I2)}~i1`, 'tampered'],
  ['moved to the front', `v1.~i2${I2.slice(3, -3)}`, 'malformed'],
  ['escaped', `${bare(I2)}%7Ei2`, 'malformed'],
  ['followed by white space', `${I2} `, 'malformed'],
  ['followed by a line break', `${I2}\n`, 'malformed'],
  ['an address', `${bare(I2)}~10.0.0.1:80`, 'malformed'],
  ['a path', `${bare(I2)}~../i2`, 'malformed'],
  ['not ASCII', `${bare(I2)}~í2`, 'malformed'],
  ['spelt with a letter that looks the same', `${bare(I2)}~і2`, 'malformed'],
  ['65 characters long', `${bare(I2)}~${'i'.repeat(65)}`, 'malformed'],
  ['all there is', '~i2', 'malformed'],
  ['all there is behind the version', 'v1.~i2', 'malformed'],
])('a token whose label is %s is rejected', (_what, token, rejected) => {
  expect(open(token, {}, NOW, [KEY, OTHER_KEY])).toEqual({ rejected });
});

test('two tokens that swap their labels are both rejected', () => {
  for (const token of [`${bare(I1)}~i2`, `${bare(I2)}~i1`])
    expect(open(token)).toEqual({ rejected: 'tampered' });
});

test('whatever a label is changed to, the token does not open', () => {
  const suffixes = fc.oneof(fc.string(), fc.stringMatching(LABELS), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(
      fc.constantFrom(PLAIN, bare(I2)),
      fc.constantFrom('', '~'),
      suffixes,
      (token, mark, suffix) => {
        fc.pre(![PLAIN, I2].includes(token + mark + suffix));
        expect(open(token + mark + suffix)).toHaveProperty('rejected');
      },
    ),
    { numRuns: 500 },
  );
});

const LABELS = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

test('every label that is allowed is carried, one by one', () => {
  fc.assert(
    fc.property(fc.stringMatching(LABELS), (routingLabel) => {
      expect(isRoutingLabel(routingLabel)).toBe(true);
      expect(open(seal(PLAN, { routingLabel }))).toEqual(OPENED);
    }),
  );
});

test.each([
  '',
  ' ',
  '-i2',
  '.i2',
  '_i2',
  'i~2',
  'i 2',
  'i2\n',
  'i2\0',
  'i/2',
  'i:2',
  'i"2',
  'i%2',
  'ï2',
  'i'.repeat(65),
])('the label %j is refused when it is given, and not repeated in the error', (label) => {
  const invalid = new InvalidLabel(
    'A routing label is 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-", and begins with a letter or a ' +
      'digit. The one that was given is not.',
  );
  expect(() => routeBy({} as ReturnType<typeof callOf>, label)).toThrow(invalid);
  expect(() => seal(PLAN, { ...SEAL, routingLabel: label })).toThrow(invalid);
});

test('a label of 64 characters is the longest', () => {
  expect(open(seal(PLAN, { binding: BINDING, routingLabel: 'i'.repeat(64) }))).toEqual(OPENED);
});

/** A tool that asks once and says where it goes on. */
const site = (label: string | undefined, maxBytes?: number) =>
  hosted(
    (server) => {
      server.registerTool('deploy', {}, (ctx) => {
        if (ctx.mcpReq.requestState() === PLAN) return textResult('Done.');
        if (label !== undefined) routeBy(callOf(ctx), label);
        return inputRequired({ inputRequests: { sure: sure.request }, requestState: PLAN });
      });
    },
    { maxBytes },
  );

test('a handler that routes its call has the label on the wire, and the next round opens anywhere', async () => {
  const states = eventsOf('mrtr:state');
  const { result } = await site('i2').post('tools/call', { name: 'deploy' });
  const token = result?.requestState as string;
  expect(token).toMatch(/^v1\.[\w-]+~i2$/);
  // Another instance can open it: what a label is for is decided by the router, not by the seal.
  const echo = { name: 'deploy', inputResponses: YES, requestState: token };
  expect((await site('i3').post('tools/call', echo)).result).toMatchObject(textResult('Done.'));
  expect(states.map(({ phase, bytes }) => [phase, bytes])).toEqual([
    ['sealed', token.length],
    ['opened', token.length],
  ]);
});

test.each<[string, (token: string) => string, string]>([
  ['changed', (token) => token.replace('~i2', '~i3'), 'tampered'],
  ['removed', bare, 'tampered'],
  ['no name', (token) => `${token}/`, 'malformed'],
])('a client that echoes a label %s gets the frozen answer', async (_what, change, reason) => {
  const { post, errors } = site('i2');
  const { result } = await post('tools/call', { name: 'deploy' });
  const requestState = change(result?.requestState as string);
  expect(await post('tools/call', { name: 'deploy', inputResponses: YES, requestState })).toEqual(REJECTED);
  expect(errors).toEqual([`Error: requestState of tools/call deploy rejected: ${reason}`]);
});

test('the label counts towards the ceiling of state', async () => {
  const fits = tokenLength(PLAN.length);
  expect((await site(undefined, fits).post('tools/call', { name: 'deploy' })).result).toBeDefined();
  expect((await site('i2', fits).post('tools/call', { name: 'deploy' })).error).toMatchObject({
    code: -32603,
  });
  expect((await site('i2', fits + 3).post('tools/call', { name: 'deploy' })).result).toBeDefined();
});
