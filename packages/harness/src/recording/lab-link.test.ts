import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Transcript } from '../transcript/transcript.ts';
import { labLink } from './lab-link.ts';

const LAB = 'https://lab.example/';
const makeTranscript = (title: string): Transcript => ({
  format: 'mrtr-transcript',
  version: 1,
  title,
  participants: [],
  events: [],
  end: { result: { content: [] } },
});

test('a link holds the whole transcript behind its #', () => {
  const transcript = makeTranscript('“a” → b');
  const [address, packed = ''] = labLink(transcript, LAB)?.split('#open=') ?? [];
  expect(address).toBe(LAB);
  expect(packed).toMatch(/^[\w-]+$/);
  expect(JSON.parse(`${inflateRawSync(Buffer.from(packed, 'base64url'))}`)).toEqual(transcript);
});

test('a transcript that is too long for a link has none', () => {
  const linkOf = (bytes: number) => labLink(makeTranscript(randomBytes(bytes).toString('hex')), LAB);
  expect(linkOf(60_000)?.length).toBeLessThan(100_100);
  expect(linkOf(90_000)).toBeUndefined();
});
