/** Reads a transcript from an untrusted file: holds it to the published schema, and shows its values only as text. */
import published from '@mrtr/harness/transcript.schema.json' with { type: 'json' };
import type { TranscriptSoFar } from '../../src/protocol.ts';

/** The keywords of JSON Schema that say how the published schema's values are read. */
interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly oneOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly prefixItems?: readonly Schema[];
  readonly items?: Schema | boolean;
  readonly minItems?: number;
}

const DEFS: Readonly<Record<string, Schema>> = published.$defs;

function fits(value: unknown, schema: Schema | boolean = true): boolean {
  if (typeof schema === 'boolean') return schema;
  const { $ref, oneOf, type, required = [], properties = {}, prefixItems = [], minItems = 0 } = schema;
  if ($ref !== undefined) return fits(value, DEFS[$ref.replace('#/$defs/', '')]);
  const isAllowed =
    (schema.const === undefined || value === schema.const) &&
    (schema.enum?.includes(value) ?? true) &&
    (oneOf?.some((one) => fits(value, one)) ?? true) &&
    (type === undefined || isOf(type, value));
  if (!isAllowed) return false;
  if (Array.isArray(value))
    return value.length >= minItems && value.every((item, at) => fits(item, prefixItems[at] ?? schema.items));
  if (!isRecord(value)) return true;
  return (
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, member]) =>
      fits(member, Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties),
    )
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isOf(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === 'object' ? isRecord(value) : typeof value === type;
}

const MAX_BYTES = 10_000_000;

export function readTranscript(text: string): TranscriptSoFar {
  if (text.length > MAX_BYTES) throw new Error('This file is too large for a transcript.');
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('This file is not JSON.');
  }
  // A recording of the lab, or a demo's output for one shape.
  if (isRecord(given) && isRecord(given.transcript)) given = given.transcript;
  if (!isRecord(given) || given.format !== 'mrtr-transcript')
    throw new Error('This file is no transcript: its "format" is not "mrtr-transcript".');
  if (given.version !== 1) throw new Error(`This page reads transcripts of version 1, not ${given.version}.`);
  const wrong = Array.isArray(given.events)
    ? given.events.findIndex((event) => !fits(event, DEFS.event))
    : -1;
  if (wrong >= 0) throw new Error(`Event ${wrong + 1} of this transcript cannot be read.`);
  if (!fits(given, published as Schema)) throw new Error('This transcript does not fit its schema.');
  return given as unknown as TranscriptSoFar;
}
