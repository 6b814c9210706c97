/** Tokens with changed content, to find servers that do not notice. */
import { isObject } from '../wire/json.ts';
import { decode, encode, joinSegments, type Segment, type Token, textsWith } from './decode.ts';

export interface Variant<Token = string> {
  readonly label: string;
  readonly token: Token;
}

/** The values at one place in two honest calls. An equal value, such as the name of a step, belongs to no call. */
export type Pair = readonly [unknown, unknown];

/** Checks try no more. */
const MAX_FORGERIES = 256;

/** Variants with each leaf changed, signed and unsigned. `words`: strings that the server may know; `seen`: states of two calls. */
export function forgeries(token: string, words: readonly string[], seen: readonly Pair[] = []) {
  const read = decode(token);
  const [only] = read.segments;
  if (read.segments.every(({ json }) => json === undefined))
    return only ? plainForgeries(token, only, words) : [];
  const forged = read.segments.flatMap((segment, at) =>
    segment.json === undefined
      ? []
      : forge(read, at, inTurn(changeLeaves(segment.json, words, jsonAt(seen, at)))),
  );
  return forged.slice(0, MAX_FORGERIES);
}

/** Forges a token that is a bare word, such as a destination. */
function plainForgeries(token: string, { encoding }: Segment, words: readonly string[]) {
  if (encoding !== 'plain' || token.length > 64 || /^[\w-]{20,}$/.test(token)) return [];
  const numeric = /^\d+$/.test(token) ? [String(Number(token) + 1)] : [];
  return [...numeric, ...words.filter((word) => word !== token), `${token}-forged`].map((word) => ({
    label: `the state ${JSON.stringify(word)} in place of ${JSON.stringify(token)}`,
    token: word,
  }));
}

const jsonAt = (seen: readonly Pair[], at: number) =>
  each(seen, (token) => (typeof token === 'string' ? decode(token).segments[at]?.json : undefined));

const each = (pairs: readonly Pair[], part: (whole: unknown) => unknown): readonly Pair[] =>
  pairs.map(([one, other]) => [part(one), part(other)]);

function forge(read: Token, at: number, changes: readonly Changed[]) {
  const segment = read.segments[at] as Segment;
  const variants = changes
    .flatMap(({ path, value }) => [{ path, value }, ...withoutSignature(path, value)])
    .map(({ path, value }) => ({ path, text: encode(Buffer.from(serialize(value, segment)), segment) }));
  return variants.flatMap(({ path, text }) => {
    const texts = textsWith(read, at, text);
    const label = `the state with ${path}`;
    const kept = { label, token: joinSegments(read, texts) };
    return at === read.segments.length - 1 ? [kept] : [kept, ...strip(read, texts, label)];
  });
}

/** Variants with the last segment empty or removed; for a JWT also one with `alg: none`. */
function strip(read: Token, texts: readonly string[], label: string) {
  const unsigned = texts.with(-1, '');
  const [header] = read.segments;
  const none =
    texts.length === 3 && isObject(header?.json) && 'alg' in header.json
      ? [encode(Buffer.from(JSON.stringify({ ...header.json, alg: 'none' })), header), ...unsigned.slice(1)]
      : undefined;
  return [
    { label: `${label} and no signature`, token: joinSegments(read, unsigned) },
    {
      label: `${label} and its signature cut off`,
      token: joinSegments(read, texts.slice(0, -1)).replace(/[.:|~$]$/, ''),
    },
    ...(none ? [{ label: `${label}, alg "none" and no signature`, token: joinSegments(read, none) }] : []),
  ];
}

const SIGNATURE = /^(?:s|sig|signature|mac|hmac|digest|hash|tag|checksum)$/i;

/** Removes the signature from an object that holds its own. */
function withoutSignature(path: string, value: unknown) {
  if (!isObject(value)) return [];
  const rest = Object.entries(value).filter(([key]) => !SIGNATURE.test(key));
  if (rest.length === 0 || rest.length === Object.keys(value).length) return [];
  return [{ path: `${path}, and no signature`, value: Object.fromEntries(rest) }];
}

/** Serializes with the spacing of the original: a server may sign or compare the text. */
function serialize(value: unknown, { bytes }: Segment) {
  const spaced = /": |, "/.test(bytes.toString('utf8'));
  return spaced
    ? JSON.stringify(value, null, 1)
        .replace(/\n\s*/g, ' ')
        .replace(/([{[]) | ([}\]])/g, '$1$2')
    : JSON.stringify(value);
}

interface Changed {
  readonly leaf: string;
  readonly path: string;
  readonly value: unknown;
}

/** Changes each leaf once before it changes one again: this finds faults sooner. */
function inTurn(all: readonly Changed[]) {
  const times = new Map<string, number>();
  const numbered = all.map((one) => {
    const time = times.get(one.leaf) ?? 0;
    times.set(one.leaf, time + 1);
    return { one, time };
  });
  return numbered.toSorted((a, b) => a.time - b.time).map(({ one }) => one);
}

function changeLeaves(
  value: unknown,
  words: readonly string[],
  seen: readonly Pair[],
  path = '',
): readonly Changed[] {
  if (isObject(value) || Array.isArray(value)) {
    const changed = Object.entries(value).flatMap(([key, member]) =>
      changeLeaves(
        member,
        words,
        each(seen, (whole) => memberOf(whole, key)),
        Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
      ).map((one) => ({ ...one, value: withMember(value, key, one.value) })),
    );
    return Array.isArray(value) ? [...changed, ...longer(value, words, path)] : changed;
  }
  const all = new Set([...elsewhere(value, seen), ...others(value, words)]);
  const changes = [...all].map((other) => ({
    leaf: path,
    path: `${path || 'its value'} = ${JSON.stringify(other)} in place of ${JSON.stringify(value)}`,
    value: other,
  }));
  return [...changes, ...inside(value, words, seen, path)];
}

const memberOf = (whole: unknown, key: string): unknown =>
  typeof whole === 'object' && whole !== null ? whole[key as never] : undefined;

const withMember = (whole: object, key: string, member: unknown): unknown =>
  Array.isArray(whole) ? whole.with(Number(key), member) : { ...whole, [key]: member };

/** Values of the leaf in other rounds. Leaves out values that differ between calls, such as ids. */
const elsewhere = (leaf: unknown, seen: readonly Pair[]) =>
  seen
    .filter(([one, other]) => one === other && one !== undefined && one !== leaf)
    .map(([one]) => one)
    .slice(0, MAX_SEEN);

const MAX_SEEN = 4;

/** Forges a leaf that is itself a token, such as the payload of a signed pair. */
function inside(
  leaf: unknown,
  words: readonly string[],
  seen: readonly Pair[],
  path: string,
): readonly Changed[] {
  if (typeof leaf !== 'string' || decode(leaf).segments.every(({ json }) => json === undefined)) return [];
  return forgeries(leaf, words, seen).map(({ label, token }) => ({
    leaf: `${path} ${label}`,
    path: `${label.replace('the state', path)}`,
    value: token,
  }));
}

/** Adds an entry to a list, which may record steps or answers. The last words are the keys of questions. */
const longer = (list: readonly unknown[], words: readonly string[], path: string) =>
  words
    .filter((word) => !list.includes(word))
    .slice(-MAX_ADDED)
    .map((word) => ({
      leaf: `${path}[]`,
      path: `${JSON.stringify(word)} added to ${path || 'its list'}`,
      value: [...list, word],
    }));

const MAX_ADDED = 4;

function others(leaf: unknown, words: readonly string[]) {
  if (typeof leaf === 'boolean') return [!leaf];
  if (typeof leaf === 'number') return Math.abs(leaf) > 1e8 ? [leaf + 1_000_000] : [leaf + 1, leaf + 1000];
  if (leaf === null) return [true, 'mrtr-check'];
  const text = String(leaf);
  return [...words.filter((word) => word !== text).slice(0, 2), `${text}x`];
}
