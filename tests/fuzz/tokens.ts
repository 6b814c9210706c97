/** The most important property: a token is valid only for the call that it was minted for. */

import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { RequestStateOptions } from '@mrtr/core';
import { keyRing } from '@mrtr/core/seal';
import type { MrtrMethod } from '@mrtr/core/shape';
import fc from 'fast-check';
import { REJECTED } from '../testkit/rejected.ts';
import { anyMutation, type Mutation, mutated } from './hostile-tokens.ts';
import { hostileJson, hostileRecord, hostileText, outsized } from './hostile-values.ts';
import { clock, keeping, policyOf, presented, type Site, siteWith } from './sites.ts';

/** The server, the request and the caller: all fields that a token is bound to. */
interface Claims {
  readonly method: MrtrMethod;
  readonly target: string;
  readonly arguments: unknown;
  readonly principal: string | undefined;
  readonly audience: string;
  /** Which of {@link RINGS} the server has. */
  readonly ring: number;
  /** Which of {@link VERSIONS} the server has. */
  readonly versions: number;
}

const TTL_SECONDS = 600;
const NOW = clock.now;
/** A text that only the author may read. */
const SECRET = 'kept-by-the-author';

const [K1, K2, K3] = ['1', '2', '3'].map((letter) => letter.repeat(32)) as [string, string, string];
const [TWIN, OTHER_TWIN] = namesakes();
const RINGS = [[K1], [K1, K2], [K2, K1], [K2], [K3], [K3, K2, K1], [TWIN], [OTHER_TWIN, TWIN]];

/** Two secrets whose keys have the same name in a token. */
function namesakes(): [string, string] {
  const known = new Map<string, string>();
  for (;;) {
    const secret = randomBytes(24).toString('hex');
    const id = keyRing([secret])[0]?.id.toString('hex') as string;
    const namesake = known.get(id);
    if (namesake !== undefined) return [namesake, secret];
    known.set(id, secret);
  }
}

type Versions = Pick<RequestStateOptions, 'version' | 'acceptVersions'>;

const VERSIONS: readonly Versions[] = [
  {},
  { version: '1' },
  { version: '2', acceptVersions: ['1'] },
  { version: '2' },
  { version: '3', acceptVersions: [null, '2'] },
  { acceptVersions: ['1', '2'] },
  { version: { deploy: '1', Deploy: '2' } },
  { version: { deploy: '2', constructor: '1' }, acceptVersions: ['1'] },
];

const anyClaims: fc.Arbitrary<Claims> = fc.record({
  method: fc.constantFrom<MrtrMethod>('tools/call', 'prompts/get', 'resources/read'),
  target: fc.oneof(fc.constantFrom('deploy', 'destroy', 'Deploy', 'deploy '), hostileText),
  arguments: fc.oneof(
    { weight: 20, arbitrary: hostileRecord },
    { weight: 16, arbitrary: fc.constantFrom(undefined, {}, { a: 1 }, { a: '1' }, { a: [1] }, [], [1]) },
    { weight: 4, arbitrary: hostileJson },
    { weight: 1, arbitrary: fc.record({ a: outsized }) },
  ),
  principal: fc.option(fc.oneof(fc.constantFrom('ada', 'Ada', 'ada ', '', 'null'), hostileText), {
    nil: undefined,
  }),
  audience: fc.constantFrom('shop', 'Shop', 'bank', ''),
  ring: fc.nat(RINGS.length - 1),
  versions: fc.nat(VERSIONS.length - 1),
});

const CLAIMS = ['method', 'target', 'arguments', 'principal', 'audience', 'ring', 'versions'] as const;

/** The fields that come from another request: one or several. */
const changes = fc.oneof(
  fc.constantFrom(...CLAIMS).map((claim) => [claim]),
  fc.subarray([...CLAIMS], { minLength: 1, maxLength: 3 }),
);

const UNCHANGED: Mutation = { kind: 'none', at: 0, put: '' };

/** The token is changed, or the request that it is presented with, or both. */
const attacks = fc.oneof(
  { weight: 4, arbitrary: fc.record({ presentDiffers: fc.constant([]), mutation: anyMutation }) },
  { weight: 4, arbitrary: fc.record({ presentDiffers: changes, mutation: fc.constant(UNCHANGED) }) },
  { weight: 1, arbitrary: fc.record({ presentDiffers: changes, mutation: anyMutation }) },
);

/** Arguments that are nearly the same. */
const twists: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.normalize('NFD'),
  (text) => text.trim(),
  (text) => text.replace(/\0/g, ''),
];

/** One attempt. */
const attempts = fc.record({
  mint: anyClaims,
  foreign: anyClaims,
  otherDiffers: changes,
  attack: attacks,
  twist: fc.nat(2 * twists.length),
  respelt: fc.boolean(),
  labels: fc.constantFrom(
    [undefined, undefined],
    ['i1', 'i2'],
    ['i1', undefined],
    [undefined, 'i2'],
    ['i1', 'i1'],
  ),
  payloads: fc.tuple(hostilePayload(), hostilePayload()),
  elapsed: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    fc.constantFrom(-61, -60, -1, 1, TTL_SECONDS - 1, TTL_SECONDS, TTL_SECONDS + 1, 1e6),
  ),
});

function hostilePayload() {
  return fc
    .oneof(fc.constantFrom('', '{"yes":true}'), fc.string({ maxLength: 60 }))
    .map((text) => SECRET + text);
}

/** Makes the site of a ring, an audience and versions. A broken twin may do less than it should. */
export type Build = (secrets: readonly string[], audience: string, versions?: Versions) => Site;

export const build: Build = (keys, audience, versions) =>
  siteWith(policyOf({ keys, ttlSeconds: TTL_SECONDS, ...versions }), audience);

/** Arbitrary changes of tokens, presented anywhere. */
export function onlyWhatWasMinted(build_: Build = build) {
  const sites = new Map<string, Site>();
  const siteOf = ({ ring, audience, versions }: Claims): Site => {
    const name = `${ring} ${versions} ${audience}`;
    const site = sites.get(name) ?? build_(RINGS[ring] as string[], audience, VERSIONS[versions]);
    sites.set(name, site);
    return site;
  };
  return fc.asyncProperty(attempts, async (attempt) => {
    const { mint, labels, payloads, elapsed } = attempt;
    const { presentDiffers, mutation } = attempt.attack;
    const twist = twists[attempt.twist];
    const foreign = twist
      ? { ...attempt.foreign, arguments: twisted(mint.arguments, twist) }
      : attempt.foreign;
    clock.now = NOW;
    const other = changed(mint, foreign, attempt.otherDiffers);
    const present = changed(mint, foreign, presentDiffers);
    const tokens = [
      await mintedAt(siteOf(mint), mint, payloads[0], labels[0]),
      await mintedAt(siteOf(other), other, payloads[1], labels[1]),
    ];
    const [token, otherToken] = tokens;
    // Arguments without a digest cannot be bound to a token, so the server gives out none.
    if (token === undefined || otherToken === undefined) return;
    clock.now = NOW + elapsed * 1000;
    const state = mutated(mutation, token, otherToken);
    const asked = attempt.respelt ? { ...present, arguments: reordered(present.arguments) } : present;
    const came = await presented(siteOf(present), { ...asked, state });
    const log = siteOf(present).log().join();
    if (log.includes(SECRET)) throw new Error(`The log leaks the payload: ${log}`);

    const alive = elapsed >= -60 && elapsed < TTL_SECONDS;
    const good = [mint, other].findIndex((claims, at) => state === tokens[at] && sameCall(claims, present));
    if (good >= 0 && alive) {
      if (!('entered' in came)) throw new Error(`A state that was minted for this call is refused: ${log}`);
      if (came.entered.state !== payloads[good])
        throw new Error('The author gets another state than was kept.');
    } else {
      if ('entered' in came) throw new Error('A state is accepted that was not minted for this call.');
      if (!isDeepStrictEqual(onTheWire(came.refused), REJECTED)) {
        throw new Error(`The refusal is not the frozen one: ${JSON.stringify(onTheWire(came.refused))}`);
      }
    }
  });
}

async function mintedAt(site: Site, claims: Claims, payload: string, label: string | undefined) {
  try {
    const result = await site.request(claims, keeping(payload, label));
    const state = (result as { requestState: string }).requestState;
    if (state.includes(SECRET)) throw new TypeError('The token can be read.');
    return state;
  } catch (error) {
    if (error instanceof ProtocolError && error.message.startsWith('The arguments')) return undefined;
    throw error;
  }
}

const changed = (claims: Claims, by: Claims, keys: readonly (keyof Claims)[]): Claims => ({
  ...claims,
  ...Object.fromEntries(keys.map((key) => [key, by[key]])),
});

/** Whether a server may accept at `there` a token that was minted for `here`. */
function sameCall(here: Claims, there: Claims): boolean {
  const [sealedWith] = RINGS[here.ring] as [string];
  const call = ({ method, target, principal, audience, arguments: given }: Claims) => [
    ...[method, target, principal, audience],
    plain(given ?? {}),
  ];
  const opens = RINGS[there.ring]?.includes(sealedWith) === true;
  return opens && isDeepStrictEqual(call(here), call(there)) && acceptsVersion(here, there);
}

/** Whether the version that a token was sealed with `here` is the one `there`, or one that is accepted there. */
function acceptsVersion(here: Claims, there: Claims): boolean {
  const [sealed, own] = [here, there].map(({ versions, target }) => {
    const { version = {} } = VERSIONS[versions] as Versions;
    const named =
      typeof version === 'string' ? version : Object.entries(version).find(([of]) => of === target)?.[1];
    return named ?? null;
  });
  return sealed === own || VERSIONS[there.versions]?.acceptVersions?.includes(sealed) === true;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The same JSON value, with the members of its objects in reverse order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, member]) => [key, reordered(member)]));
}

/** The same value, with all texts changed, and all numbers turned into changed texts. */
function twisted(value: unknown, twist: (text: string) => string): unknown {
  if (typeof value === 'string' || typeof value === 'number') return twist(String(value));
  if (Array.isArray(value)) return value.map((item) => twisted(item, twist));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [twist(key), twisted(member, twist)]),
  );
}

/** The parts of an error that the SDK sends. */
export const onTheWire = (error: unknown): unknown => {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  return { code, message, data };
};
