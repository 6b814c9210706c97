/** Checks options at run time, for mistakes that types miss: in JavaScript, behind an `as`, from the environment. */
import { InvalidOption } from './errors.ts';
import type { Members } from './wire/wire.ts';

/** The check of one option. */
export interface OptionCheck {
  /** The allowed values, for the message: `'reject', 'replay' or false`. */
  readonly allowed: string;
  isAllowed(value: unknown): boolean;
  /**
   * When the value may be undefined: always (the default), only if the option is left out (`if-left-out`), or `never`.
   */
  readonly undefinedAllowed?: 'if-left-out' | 'never';
  /** Whether the message quotes a given text. Set it only for options where nobody would put a secret. */
  readonly quotesText?: boolean;
}

/** A check for every option. The compiler rejects a missing check. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck };

/** Options that earlier versions had, each with a sentence about its replacement: ``'Write `limits: { calls }`.'``. */
export type GoneOptions = Readonly<Record<string, string>>;

/**
 * Checks the names and the values of `options`.
 *
 * @param owner the function or class that takes the options, for the message.
 * @throws InvalidOption naming the first wrong option, its value and the allowed values. For an option of an earlier
 * version, it says what to write instead.
 * @example requireOptions('MemoryLedger', options, { limits: anyValue, now: aFunction });
 */
export function requireOptions<Options extends object>(
  owner: string,
  options: Options,
  checks: OptionChecks<NoInfer<Options>>,
  gone: GoneOptions = {},
) {
  requireKnownOptions(owner, options, Object.keys(checks), gone);
  for (const [name, check] of Object.entries<OptionCheck>(checks)) {
    const value: unknown = (options as Members)[name];
    const { undefinedAllowed } = check;
    const isLeftOut = undefinedAllowed === 'if-left-out' && !Object.hasOwn(options, name);
    if (value === undefined && (undefinedAllowed === undefined || isLeftOut)) continue;
    if (check.isAllowed(value)) continue;
    throw new InvalidOption(`${owner}: ${name} must be ${check.allowed}; it is ${describe(value, check)}.`);
  }
}

/** @throws InvalidOption naming the first option that is not among `names`, and the one that was probably meant. */
function requireKnownOptions(owner: string, options: object, names: readonly string[], gone: GoneOptions) {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new InvalidOption(`${owner}: the options must be an object; they are ${describe(options)}.`);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  if (Object.hasOwn(gone, unknown))
    throw new InvalidOption(`${owner}: the option '${unknown}' is gone. ${gone[unknown]}`);
  const meant =
    names.find((name) => isMisspelling(unknown, name)) ??
    // One name may be the beginning of the other: `ttl` for `ttlSeconds`.
    names.find((name) => name.startsWith(unknown) || unknown.startsWith(name));
  const hint = meant === undefined ? `The options are: ${names.join(', ')}.` : `Did you mean '${meant}'?`;
  throw new InvalidOption(`${owner}: there is no option '${unknown}'. ${hint}`);
}

/** Adds `defaults` for options that are left out or undefined. */
export function withDefaults<Options extends object, Defaults extends Partial<Options>>(
  options: Options,
  defaults: Defaults,
): Options & Required<Defaults> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) } as Options & Required<Defaults>;
}

/**
 * Checks a `limits` object and adds the defaults: whole numbers of at least 1, and `perPrincipal`, the share of each of
 * them that one principal may take. In {@link requireOptions}, its check is {@link anyValue}.
 *
 * @param checks for numbers that have other bounds.
 * @param gone the names of earlier versions.
 * @throws InvalidOption naming the first wrong limit, its value and the allowed values.
 * @example const { entries, perPrincipal } = limitsOf('MemoryLedger', limits, { entries: 100_000, perPrincipal: 1 / 16 });
 */
export function limitsOf<Name extends string>(
  owner: string,
  given: { readonly [N in Name]?: number | undefined } = {},
  defaults: Readonly<Record<Name, number>>,
  checks: { readonly [N in Name]?: OptionCheck } = {},
  gone: GoneOptions = {},
): Readonly<Record<Name, number>> {
  const numbers = Object.keys(defaults).map((name) => [
    name,
    name === 'perPrincipal' ? aShare : wholeNumber(),
  ]);
  const all: OptionChecks<object> = { ...Object.fromEntries(numbers), ...checks };
  requireOptions<object>(`${owner} limits`, given, all, gone);
  return withDefaults(given, defaults as never);
}

/** The limit of one principal: its share of `limit`, and at least 1. */
export const ownLimit = (limit: number, perPrincipal: number) =>
  Math.max(1, Math.floor(limit * perPrincipal));

/**
 * Checks an argument: a client, a handler, an instance to serve. The message never shows its value, which may be the
 * URL of a database.
 *
 * @param owner the function or class that needs it.
 * @throws InvalidOption naming the argument, its allowed values, and the type of the given one.
 * @example requireArgument('RedisLedger', 'client', client, anObjectWith('eval'));
 */
export function requireArgument(owner: string, name: string, value: unknown, check: OptionCheck) {
  if (check.isAllowed(value)) return;
  throw new InvalidOption(`${owner}: ${name} must be ${check.allowed}; it is ${describeType(value)}.`);
}

/** An option that cannot be left out. */
export const asRequired = (check: OptionCheck): OptionCheck => ({ ...check, undefinedAllowed: 'never' });

/** An option that may be left out, but not given as undefined: that is an unset environment variable. */
export const asDefinedIfGiven = (check: OptionCheck): OptionCheck => ({
  ...check,
  undefinedAllowed: 'if-left-out',
});

/** Any value but undefined: its owner checks it, or every value is allowed. */
export const anyValue: OptionCheck = { allowed: 'given', isAllowed: (value) => value !== undefined };

export const aFunction: OptionCheck = {
  allowed: 'a function',
  isAllowed: (value) => typeof value === 'function',
};

export const aBoolean: OptionCheck = {
  allowed: 'true or false',
  isAllowed: (value) => typeof value === 'boolean',
  quotesText: true,
};

export const aText: OptionCheck = {
  allowed: 'a text that is not empty',
  isAllowed: (value) => typeof value === 'string' && value !== '',
};

/** A name in a database that needs no quotes. It is inserted into SQL statements. */
export const aPlainIdentifier: OptionCheck = {
  allowed: 'an identifier that needs no quotes (a-z, 0-9, _)',
  isAllowed: (value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value),
  quotesText: true,
};

/** The longest time of a Node timer, in milliseconds. A longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LONGEST_TIMER_SECONDS = Math.floor(LONGEST_TIMER_MS / 1000);

/** A time in seconds, above 0 and short enough for a timer. */
export const aTimeInSeconds: OptionCheck = {
  allowed: `a number above 0, and at most ${LONGEST_TIMER_SECONDS}`,
  isAllowed: (value) => typeof value === 'number' && value > 0 && value <= LONGEST_TIMER_SECONDS,
  quotesText: true,
};

const aShare: OptionCheck = {
  allowed: 'a number above 0, and at most 1',
  isAllowed: (value) => typeof value === 'number' && value > 0 && value <= 1,
  quotesText: true,
};

/** A whole number of seconds, from `least` to the longest time of a timer. */
export const wholeSeconds = (least = 1): OptionCheck => wholeNumber(least, LONGEST_TIMER_SECONDS);

/** A whole number from `least` to `most`, both allowed. */
export const wholeNumber = (least = 1, most?: number): OptionCheck => ({
  allowed: `a whole number ${most === undefined ? `of at least ${least}` : `from ${least} to ${most}`}`,
  isAllowed: (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= (most ?? Number.MAX_VALUE),
  quotesText: true,
});

/** One of `values`. */
export const oneOf = (...values: readonly (string | boolean)[]): OptionCheck => ({
  allowed: listWords(
    values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))),
    'or',
  ),
  isAllowed: (value) => values.includes(value as string | boolean),
  quotesText: true,
});

/** A list whose members all pass `isMember`. */
export const listOf = (members: string, isMember: (value: unknown) => boolean): OptionCheck => ({
  allowed: `a list of ${members}`,
  isAllowed: (value) => Array.isArray(value) && value.every(isMember),
});

/** An object that has all these `methods`. */
export const anObjectWith = (...methods: readonly string[]): OptionCheck => ({
  allowed: `an object with ${listWords(
    methods.map((name) => `${name}()`),
    'and',
  )}`,
  isAllowed: (value) =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof (value as Members)[name] === 'function'),
});

/**
 * The longest text to quote. A longer one is not a number or a misspelt choice, and may be a secret in the wrong place.
 */
const MAX_QUOTED = 12;

/** Describes a value for a message. Shows only short texts: a long one may be a secret in the wrong place. */
function describe(value: unknown, { quotesText = false, undefinedAllowed }: Partial<OptionCheck> = {}) {
  if (value === undefined && undefinedAllowed === 'if-left-out')
    return 'undefined. Set its environment variable, or leave the option out';
  if (typeof value === 'string' && quotesText && value.length <= MAX_QUOTED) return `'${value}'`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : describeType(value);
}

/** Describes the type of a value, without the value. */
function describeType(value: unknown) {
  if (value === undefined || value === null) return String(value);
  if (value === '') return "''";
  if (Array.isArray(value)) return 'a list';
  const type = typeof value === 'string' ? 'text' : typeof value;
  return `${type === 'object' ? 'an' : 'a'} ${type}`;
}

const listWords = (parts: readonly string[], last: 'and' | 'or') =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1)}`;

/** Whether the names differ only in case and in up to three letters in a row: `maxEntry` for `maxEntries`. */
export function isMisspelling(given: string, name: string) {
  const [a, b] = [given.toLowerCase(), name.toLowerCase()];
  const [longer, shorter] = [Math.max(a.length, b.length), Math.min(a.length, b.length)];
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const other = longer - head - tail;
  return other <= 3 && other < head + tail;
}
