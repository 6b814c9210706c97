import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import schema from '../../transcript.schema.json' with { type: 'json' };
import { scriptedUser } from '../clients/user.ts';
import type { ConversationRequest } from '../conversations/conversation.ts';
import { converse } from '../conversations/converse.ts';
import { CALL, deployer } from '../deployer.test-support.ts';
import { host, type LocalHostingKind } from '../hosts/host.ts';

const validate = new Ajv2020({ strict: true, strictTypes: false }).compile(schema);

function mistakes(transcript: unknown): unknown {
  return validate(JSON.parse(JSON.stringify(transcript))) ? [] : validate.errors;
}

const run = (request: Partial<ConversationRequest> = {}, hosting: LocalHostingKind = 'memory') =>
  converse({ ...CALL, user: scriptedUser({ sure: [true] }), ...request }, () =>
    host(hosting, () => ({ server: deployer })),
  );

test.each([
  ['on one instance', {}, 'memory'],
  ['on a fleet, timed by the clock', { now: undefined }, 'fleet'],
  ['through restarts', {}, 'restart'],
  ['of an old client', { client: 'legacy' }, 'memory'],
  ['of a silent user', { user: scriptedUser({ sure: ['silence', { action: 'cancel' }] }) }, 'memory'],
  ['that ends in an error', { user: undefined }, 'memory'],
] as const)('the transcript of a call %s fits the schema', async (_, request, hosting) => {
  expect(mistakes(await run(request, hosting))).toEqual([]);
});

test('what is no transcript does not fit it', async () => {
  const transcript = await run();
  const [first, ...rest] = transcript.events;
  for (const broken of [
    { ...transcript, version: 2 },
    { ...transcript, end: {} },
    { ...transcript, events: [{ ...first, at: undefined }, ...rest] },
    { ...transcript, events: [{ ...first, kind: 'gossip' }] },
    { ...transcript, events: [{ ...first, more: true }] },
    { ...transcript, participants: [{ id: 'client', kind: 'client', label: 'client' }] },
  ]) {
    expect(mistakes(broken)).not.toEqual([]);
  }
});
