/** The published schema. `tests/truth` holds every recorded and generated transcript to it. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import schema from '../../transcript.schema.json' with { type: 'json' };
import { scriptedUser } from '../clients/user.ts';
import { converse } from '../conversations/converse.ts';
import { CALL, deployer } from '../deployer.test-support.ts';
import { host } from '../hosts/host.ts';

const validate = new Ajv2020({ strict: true, strictTypes: false }).compile(schema);
const fits = (transcript: unknown) => validate(JSON.parse(JSON.stringify(transcript)));

test('a transcript fits the schema, and other values do not', async () => {
  const request = { ...CALL, user: scriptedUser({ sure: ['silence', { action: 'cancel' }] }) };
  const transcript = await converse(request, () => host('restart', () => ({ server: deployer })));
  expect(fits(transcript), JSON.stringify(validate.errors)).toBe(true);
  const [first, ...rest] = transcript.events;
  for (const broken of [
    { ...transcript, version: 2 },
    { ...transcript, end: {} },
    { ...transcript, events: [{ ...first, at: undefined }, ...rest] },
    { ...transcript, events: [{ ...first, kind: 'gossip' }] },
    { ...transcript, events: [{ ...first, more: true }] },
    { ...transcript, participants: [{ id: 'client', kind: 'client', label: 'client' }] },
  ])
    expect(fits(broken)).toBe(false);
});
