/** Takes the values of headers out of everything that is reported. */
import type { Address } from '../target/target.ts';
import { isObject } from '../wire/json.ts';
import { REDACTED } from './shell.ts';

/** A shorter value would take ordinary words apart. */
const LEAST = 3;

/** The same value, with every secret in its strings replaced. */
export type Redact = <T>(value: T) => T;

/** Redacts the header values of an address, and the token of each that has a scheme such as `Bearer`. */
export function redactor({ headers, otherHeaders = {} }: Address): Redact {
  const values = [...Object.values(headers), ...Object.values(otherHeaders)];
  const tokens = values.flatMap((value) => [value, value.replace(/^\w+ +/, '')]);
  const secrets = [...new Set(tokens)]
    .filter((value) => value.length >= LEAST)
    .sort((a, b) => b.length - a.length);
  const inText = (text: string): string => {
    let clean = text;
    for (const secret of secrets)
      for (const form of new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]))
        clean = clean.replaceAll(form, REDACTED);
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
