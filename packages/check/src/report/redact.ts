/** Takes the values of headers out of everything that is reported. */
import type { Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import type { Address } from '../target/target.ts';
import { isObject } from '../wire/json.ts';
import { REDACTED } from './shell.ts';

/** A shorter value would take ordinary words apart. */
const LEAST = 3;

/** A shorter one says nothing in Base64 that could not stand there by chance. */
const LEAST_ENCODED = 8;

/** The same value, with every secret in its strings replaced. */
export type Redact = <T>(value: T) => T;

/** Redacts the header values of an address, and the token of each that has a scheme such as `Bearer`. */
export function redactor({ headers, otherHeaders = {} }: Address): Redact {
  const values = [...Object.values(headers), ...Object.values(otherHeaders)];
  const tokens = values.flatMap((value) => [value, value.replace(/^\w+ +/, ''), ...passwordIn(value)]);
  const secrets = [...new Set(tokens)]
    .filter((value) => value.length >= LEAST)
    .sort((a, b) => b.length - a.length);
  const inText = (text: string): string => {
    let clean = text;
    for (const secret of secrets)
      for (const form of formsOf(secret)) clean = clean.replaceAll(form, REDACTED);
    return clean;
  };
  const inValue = (value: unknown): unknown => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map(inValue);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [inText(key), inValue(member)]));
  };
  return ((value) => inValue(value)) as Redact;
}

/**
 * The same conversation, with every secret in what was sent replaced. The format's own words stay: a secret may be
 * `client`, or a part of `events`.
 */
export function redactedTranscript({ title, events, end, ...rest }: Transcript, redact: Redact): Transcript {
  const redacted = (event: TranscriptEvent): TranscriptEvent => {
    if (event.kind === 'message') return { ...event, message: redact(event.message) };
    return event.kind === 'effect' ? { ...event, detail: redact(event.detail) } : event;
  };
  return {
    ...rest,
    title: redact(title),
    events: events.map(redacted),
    end: end.error
      ? { error: { ...end.error, message: redact(end.error.message) } }
      : { result: redact(end.result) },
  };
}

/** The user and the password of `Basic`, and the password alone. */
function passwordIn(value: string): readonly string[] {
  const [, basic] = /^Basic +(\S+)$/i.exec(value) ?? [];
  if (basic === undefined) return [];
  const pair = Buffer.from(basic, 'base64').toString();
  return [pair, pair.slice(pair.indexOf(':') + 1)];
}

/** A secret as it is, in JSON, in an address, and inside of Base64, where it may begin at any of three places. */
function formsOf(secret: string): ReadonlySet<string> {
  const plain = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  if (secret.length < LEAST_ENCODED) return new Set(plain);
  const encoded = [0, 1, 2].map((before) => {
    const text = Buffer.from(`${'x'.repeat(before)}${secret}`)
      .toString('base64')
      .replace(/=+$/, '');
    // The first and the last characters also hold bits of the neighbours.
    return text.slice(Math.ceil((before * 4) / 3), -1);
  });
  const forUrls = encoded.map((text) => text.replace(/\+/g, '-').replace(/\//g, '_'));
  return new Set([...plain, ...encoded, ...forUrls]);
}
