/**
 * Transcripts that travel, in a file or in a link. Both are untrusted: they are bounded and held to the published schema,
 * and their values are shown only as text.
 */
import { type Schema, Validator } from '@cfworker/json-schema';
import published from '@mrtr/harness/transcript.schema.json' with { type: 'json' };
import type { TranscriptSoFar } from '../../src/protocol.ts';
import { fromBase64, toBase64 } from '../../src/states.ts';

const validator = new Validator(published as Schema);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const MAX_BYTES = 10_000_000;
const MAX_LINK = 100_000;
/** More rows would take the page seconds to draw. */
const MAX_EVENTS = 3000;
/** A deeper value cannot be written as JSON again. */
const MAX_DEPTH = 100;

const isDeep = (value: unknown, left = MAX_DEPTH): boolean =>
  value instanceof Object && (left === 0 || Object.values(value).some((one) => isDeep(one, left - 1)));

/** The text of a file. Rejects a file that no transcript can be. */
export async function textOf(file: Blob) {
  if (file.size > MAX_BYTES) throw new Error('This is too large for a transcript.');
  return file.text();
}

/** Compresses a transcript for a link. Rejects if it is too large for one. */
export async function pack(transcript: string) {
  const stream = new Blob([transcript]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const packed = toBase64(new Uint8Array(await new Response(stream).arrayBuffer()));
  if (packed.length > MAX_LINK) throw new Error('This call is too long for a link: copy its transcript.');
  return packed;
}

/** The text of a transcript in a link. Deflate makes at most 1032 bytes of one: 77 MB of the longest link. */
export async function unpack(packed: string) {
  const open = async () => {
    if (packed.length > MAX_LINK) throw new Error('The link is too long.');
    const stream = new Blob([fromBase64(packed)]).stream();
    return new Response(stream.pipeThrough(new DecompressionStream('deflate-raw'))).blob();
  };
  const text = await open().catch(() => {
    throw new Error('This link is no transcript: it was cut off, changed, or is too long.');
  });
  return textOf(text);
}

export function readTranscript(text: string) {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('This is not JSON.');
  }
  // A recording of the lab, or a demo's output for one shape.
  if (isRecord(given) && isRecord(given.transcript)) given = given.transcript;
  if (!isRecord(given) || given.format !== 'mrtr-transcript')
    throw new Error('This is no transcript: its "format" is not "mrtr-transcript".');
  if (given.version !== 1) throw new Error(`This page reads transcripts of version 1, not ${given.version}.`);
  const events = Array.isArray(given.events) ? given.events : [];
  if (isDeep(given) || events.length > MAX_EVENTS)
    throw new Error(`This page shows at most ${MAX_EVENTS} events, and values of ${MAX_DEPTH} levels.`);
  const { valid, errors } = validator.validate(given);
  const [wrong] = errors.flatMap(({ instanceLocation: place }) => /^#\/events\/(\d+)/.exec(place)?.[1] ?? []);
  if (wrong !== undefined) throw new Error(`Event ${Number(wrong) + 1} of this transcript cannot be read.`);
  if (!valid) throw new Error('This transcript does not fit its schema.');
  return given as unknown as TranscriptSoFar;
}
