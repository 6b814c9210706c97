/** Arbitrary answers, and which of them count: a second definition, independent of the library's. */
import fc from 'fast-check';
import { hostileJson, hostileKey, hostileRecord } from './hostile-values.ts';

/** The example tools' questions, by their keys on the wire. Each has one field, with the same name. */
export type Asked = 'units' | 'resolution' | 'original';

const GOOD: Readonly<Record<Asked, readonly unknown[]>> = {
  units: ['metric', 'imperial'],
  resolution: ['Fixed', 'Duplicate', "Won't fix"],
  original: [4301, 4522, 1, 99_999],
};
const BAD: readonly unknown[] = [
  ...['Metric', 'kelvin', 'fixed', 0, -1, 100_000, 4301.5, '4301', null, true],
  ['metric'],
];

const fields = fc.constantFrom<Asked>('units', 'resolution', 'original');
const value = fc.oneof(
  { weight: 5, arbitrary: fields.chain((field) => fc.constantFrom(...GOOD[field])) },
  { weight: 2, arbitrary: fc.constantFrom(...BAD) },
  hostileJson,
);
const content = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fields, value).map(([field, of]) => ({ [field]: of })) },
  fc.tuple(fields, value, hostileRecord).map(([field, of, more]) => ({ ...more, [field]: of })),
  // The value is not the content's own.
  fc.tuple(fields, value).map(([field, of]) => Object.fromEntries([['__proto__', { [field]: of }]])),
  hostileJson,
);
const answer = fc.oneof(
  { weight: 8, arbitrary: content.map((of) => ({ action: 'accept', content: of })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>({ action: 'decline' }, { action: 'cancel' }, { action: 'accept' }),
  },
  // Of another kind, wrapped, or hidden.
  fc.constantFrom<unknown>(
    { roots: [{ uri: 'file:///' }] },
    { role: 'assistant', model: 'm', content: { type: 'text', text: 'metric' } },
    { action: 'ACCEPT', content: { units: 'metric' } },
    { action: ['accept'], content: { units: 'metric' } },
    { method: 'elicitation/create', result: { action: 'accept', content: { units: 'metric' } } },
    'accept',
    null,
    [],
  ),
  content.map((of) => Object.fromEntries([['__proto__', { action: 'accept', content: of }]])),
  fc.tuple(content, hostileRecord).map(([of, more]) => ({ ...more, action: 'accept', content: of })),
  hostileJson,
);

/** An answer that looks right: an honest one, or one that a schema has to reject. */
const aimed = fc
  .tuple(fields, value)
  .map(([field, of]) => [field, { action: 'accept', content: { [field]: of } }] as const);
const entry = fc.oneof(aimed, fc.tuple(fc.oneof({ weight: 6, arbitrary: fields }, hostileKey), answer));

/** A good answer to every question, asked or not. */
const everything = fc
  .tuple(...(['units', 'resolution', 'original'] as const).map((field) => fc.constantFrom(...GOOD[field])))
  .map(([units, resolution, original]) => Object.entries({ units, resolution, original }))
  .map((given) =>
    given.map(([field, of]) => [field, { action: 'accept', content: { [field]: of } }] as const),
  );

export const hostileAnswers: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc
  .oneof(
    { weight: 5, arbitrary: fc.array<readonly [string, unknown]>(entry, { maxLength: 3 }) },
    { weight: 1, arbitrary: everything },
  )
  .map((entries) => Object.fromEntries(entries));

export type Verdict = { readonly accepted: unknown } | 'refused' | 'nothing';

export function verdict(answers: Readonly<Record<string, unknown>> | undefined, asked: Asked): Verdict {
  const given = own(answers, asked);
  if (!isObject(given) || 'method' in given || 'result' in given) return 'nothing';
  const action = own(given, 'action');
  if (action === 'decline' || action === 'cancel') return 'refused';
  if (action !== 'accept') return 'nothing';
  const said = own(own(given, 'content'), asked);
  const fits =
    asked === 'original'
      ? Number.isInteger(said) && (said as number) >= 1 && (said as number) <= 99_999
      : GOOD[asked].includes(said);
  return fits ? { accepted: said } : 'nothing';
}

const isObject = (value_: unknown): value_ is object =>
  typeof value_ === 'object' && value_ !== null && !Array.isArray(value_);

const own = (of: unknown, key: string): unknown =>
  isObject(of) && Object.hasOwn(of, key) ? (of as Record<string, unknown>)[key] : undefined;
