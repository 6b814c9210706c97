/** Redacts header values in reports. */
import type { Address } from '../target/target.ts';
import { REDACTED } from './shell.ts';
import { mapTexts } from './text.ts';

/** The shortest value to redact: shorter ones occur in ordinary words. */
const LEAST = 3;

/** The shortest value to redact in Base64: shorter ones occur by chance. */
const LEAST_ENCODED = 8;

export type Redact = <T>(value: T) => T;

/** Redacts the header values of an address, and the token of each that has a scheme such as `Bearer`. */
export function redactor({ headers, otherHeaders }: Address) {
  const values = [headers, otherHeaders].flatMap((all = {}) => Object.values(all));
  const tokens = values.flatMap((value) => [value, value.replace(/^\w+ +/, ''), ...passwordIn(value)]);
  const secrets = [...new Set(tokens)]
    .filter((value) => value.length >= LEAST)
    .sort((a, b) => b.length - a.length);
  const forms = secrets.flatMap((secret) => [...formsOf(secret)]);
  const runs = runsOf(forms);
  const parts = partsAtCuts(forms);
  const inText = (text: string) => {
    let clean = text;
    for (const form of forms) clean = clean.replaceAll(form, REDACTED);
    clean = withoutRuns(clean, runs);
    if (clean.includes(CUT)) for (const [part, without] of parts) clean = clean.replaceAll(part, without);
    return clean;
  };
  return ((value) => mapTexts(value, inText)) as Redact;
}

/** A run of this many characters of a secret is redacted, even if the rest was changed, as in a tampered state. */
const RUN = 12;

const runsOf = (forms: readonly string[]) =>
  new Set(
    forms.flatMap((form) =>
      Array.from({ length: Math.max(0, form.length - RUN + 1) }, (_, at) => form.slice(at, at + RUN)),
    ),
  );

function withoutRuns(text: string, runs: ReadonlySet<string>) {
  if (runs.size === 0) return text;
  let clean = '';
  let kept = 0;
  for (let at = 0; at + RUN <= text.length; at++) {
    if (!runs.has(text.slice(at, at + RUN))) continue;
    let end = at + RUN;
    while (end < text.length && runs.has(text.slice(end - RUN + 1, end + 1))) end++;
    clean += `${text.slice(kept, at)}${REDACTED}`;
    kept = end;
    at = end - 1;
  }
  return clean + text.slice(kept);
}

const CUT = '…';

/** Each part of a secret before or after the mark at which a text was cut, with its replacement. The longest come first. */
const partsAtCuts = (forms: readonly string[]) =>
  Array.from({ length: RUN - LEAST + 1 }, (_, at) => RUN - at).flatMap((length) =>
    forms
      .filter((form) => form.length >= length)
      .flatMap((form) => [
        [`${form.slice(0, length)}${CUT}`, `${REDACTED}${CUT}`] as const,
        [`${CUT}${form.slice(-length)}`, `${CUT}${REDACTED}`] as const,
      ]),
  );

function passwordIn(value: string) {
  const [, basic] = /^Basic +(\S+)$/i.exec(value) ?? [];
  if (basic === undefined) return [];
  const pair = Buffer.from(basic, 'base64').toString();
  return [pair, pair.slice(pair.indexOf(':') + 1)];
}

/** The forms of a secret: plain, in JSON, in a URL, in hex, and in Base64 at each of three offsets. */
function formsOf(secret: string) {
  const escaped = encodeURIComponent(secret);
  const lowerCase = escaped.replace(/%\w\w/g, (one) => one.toLowerCase());
  const plain = [secret, JSON.stringify(secret).slice(1, -1), escaped, lowerCase];
  if (secret.length < LEAST_ENCODED) return new Set(plain);
  const encoded = [0, 1, 2].map((before) => {
    const text = Buffer.from(`${'x'.repeat(before)}${secret}`)
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters also hold bits of their neighbours.
    return text.slice(Math.ceil((before * 4) / 3), -1);
  });
  const forUrls = encoded.map((text) => text.replace(/\+/g, '-').replace(/\//g, '_'));
  const hex = Buffer.from(secret).toString('hex');
  return new Set([...plain, ...encoded, ...forUrls, hex, hex.toUpperCase()]);
}
