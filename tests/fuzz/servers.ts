/**
 * The property of whole servers: each option gives the expected result, or refuses, and leaks nothing. The changes that a
 * client can make to a token, and answers at their limits, are tried in core.
 */
import { isDeepStrictEqual } from 'node:util';
import { MemoryLedger, type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { keyRing } from '@mrtr/core/seal';
import { createWorld, type World } from '@mrtr/example-tools';
import { callerNamed, InProcess, type Posted } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import type { Option } from '@mrtr/option';
import fc from 'fast-check';
import { partsOf, policyFromParts } from '../../packages/core/src/admission/policy.ts';
import { REJECTED } from '../testkit/rejected.ts';
import { type Expected, expected, type Stage, type ToolCall } from './expected.ts';
import { hostileAnswers } from './hostile-answers.ts';
import { hostileJson, hostileRecord, hostileText } from './hostile-values.ts';

const SECRET = 'a secret of thirty-two bytes or more';
const NOW = 1_785_240_000_000;
const TTL_SECONDS = 600;

/** The servers: two instances of one deployment, another audience, another key, and a key ring that rolls. */
const PLACES = ['one', 'two', 'other audience', 'other key', 'rolled key'] as const;
type Place = (typeof PLACES)[number];
type SingleUse = 'off' | 'reject' | 'replay';

interface Caller {
  readonly call: ToolCall;
  readonly stage: Stage;
  readonly principal: string | undefined;
  readonly place: Place;
}

const anyCall: fc.Arbitrary<ToolCall> = fc.oneof(
  fc.record({
    tool: fc.constant('get_weather' as const),
    location: fc.oneof(
      fc.constantFrom('Tokyo', 'tokyo', '__proto__', 'Tōkyō'),
      hostileText.filter((text) => text.length > 0),
    ),
  }),
  fc.record({ tool: fc.constant('resolve_work_item' as const), id: fc.constantFrom(4301, 4522) }),
);

const anyCaller: fc.Arbitrary<Caller> = fc
  .record({
    call: anyCall,
    late: fc.boolean(),
    principal: fc.constantFrom(undefined, 'ada', 'mallory'),
    place: fc.constantFrom(...PLACES),
  })
  .map(({ late, ...caller }) => ({
    ...caller,
    stage: caller.call.tool === 'get_weather' ? 'units' : late ? 'original' : 'resolution',
  }));

const differences = fc.oneof(
  fc.constantFrom('call' as const, 'principal' as const, 'place' as const).map((one) => [one]),
  fc.subarray(['call', 'principal', 'place'] as const, { minLength: 1 }),
);

const presentation = fc.oneof(
  { weight: 8, arbitrary: fc.constant('own' as const) },
  { weight: 3, arbitrary: fc.constant('other' as const) },
  { weight: 2, arbitrary: fc.constant({ state: undefined }) },
  { weight: 2, arbitrary: fc.oneof(hostileJson, hostileText).map((state) => ({ state })) },
);

const attempts = fc.record({
  singleUse: fc.constantFrom<SingleUse>('off', 'reject', 'replay'),
  mint: anyCaller.map((caller) => ({ ...caller, place: 'one' as Place })),
  foreign: anyCaller,
  otherDiffers: differences,
  presentDiffers: fc.oneof(fc.constant([]), differences),
  presented: presentation,
  answers: hostileAnswers,
  // An unknown argument belongs to the call too, although no tool reads it.
  more: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, hostileRecord),
  elapsed: fc.oneof(
    { weight: 8, arbitrary: fc.constant(0) },
    fc.constantFrom(TTL_SECONDS - 1, TTL_SECONDS, -61),
  ),
  again: fc.boolean(),
});

type Attempt = typeof attempts extends fc.Arbitrary<infer A> ? A : never;

export interface Suspect {
  readonly option: Option;
  /** The name of its only tool, if it does not have both. */
  readonly only?: ToolCall['tool'];
}

export function onlyWhatIsOwed(suspect: Suspect) {
  const fits = ({ mint, foreign }: Attempt) =>
    suspect.only === undefined || [mint, foreign].every(({ call }) => call.tool === suspect.only);
  return fc.asyncProperty(attempts.filter(fits), async (attempt) => {
    const deployment = new Deployment(suspect, attempt.singleUse);
    try {
      await attack(deployment, attempt);
    } finally {
      await deployment.close();
    }
  });
}

async function attack(deployment: Deployment, attempt: Attempt): Promise<void> {
  const { mint, foreign, answers, elapsed } = attempt;
  const other = { ...mint, ...picked(foreign, attempt.otherDiffers) };
  const caller = { ...mint, ...picked(foreign, attempt.presentDiffers) };
  const token = await deployment.reach(mint);
  const otherToken = attempt.presented === 'other' ? await deployment.reach(other) : undefined;
  deployment.elapsed = elapsed;
  const state = typeof attempt.presented === 'object' ? attempt.presented.state : (otherToken ?? token);
  const params = paramsOf(caller.call, { ...attempt.more }, { inputResponses: answers, requestState: state });
  // JSON.stringify leaves undefined out, and writes a lone surrogate as an escape.
  const body = JSON.stringify(params);

  const before = deployment.written();
  const came = await deployment.post(caller, body);
  const wrote = difference(deployment.written(), before);
  const says = said(came);

  const good = [mint, other].find((from, at) => {
    const minted = [token, otherToken][at];
    return minted !== undefined && state === minted && sameCall(from, caller, attempt.more);
  });
  const alive = elapsed >= -60 && elapsed < TTL_SECONDS;
  const opened = good !== undefined && alive;
  const owed = deployment.owed(caller, { answers, state, from: opened ? good : undefined });
  if (!isDeepStrictEqual({ says, ...wrote }, owed)) {
    throw new Error(`Expected ${JSON.stringify(owed)}, got ${JSON.stringify({ says, ...wrote })}.`);
  }
  if (attempt.again && attempt.singleUse !== 'off' && opened) {
    const again = await deployment.post(caller, body);
    // An instance that does not hold the call has spent no token.
    const same = attempt.singleUse === 'replay' || says === LOST ? came.text : undefined;
    if (same === undefined ? said(again) !== 'rejected' : again.text !== same) {
      throw new Error(`The second presentation gives ${JSON.stringify(said(again))}.`);
    }
    const now = difference(deployment.written(), before);
    if (!isDeepStrictEqual(now, wrote)) throw new Error(`Presented again, it wrote: ${JSON.stringify(now)}.`);
  }
  if (says === 'rejected' && token !== undefined && alive) await finishes(deployment, mint, token);
}

/** A failed attempt must not harm the honest user's call. */
async function finishes(deployment: Deployment, caller: Caller, token: string): Promise<void> {
  const good = { units: 'metric', resolution: 'Fixed', original: caller.call.tool === 'get_weather' ? 1 : 0 };
  const stage = caller.stage as keyof typeof good;
  const original = caller.call.tool === 'resolve_work_item' && caller.call.id === 4301 ? 4522 : 4301;
  const value = stage === 'original' ? original : good[stage];
  const answers = { [stage]: { action: 'accept', content: { [stage]: value } } };
  const params = paramsOf(caller.call, {}, { inputResponses: answers, requestState: token });
  const came = await deployment.post(caller, JSON.stringify(params));
  const owed = deployment.owed(caller, { answers, state: token, from: caller });
  if (said(came) !== owed.says)
    throw new Error(`The honest user's call ends with ${JSON.stringify(said(came))}.`);
}

const picked = (from: Caller, keys: readonly ('call' | 'principal' | 'place')[]): Partial<Caller> => ({
  ...Object.fromEntries(keys.map((key) => [key, from[key]])),
  ...(keys.includes('call') && { stage: from.stage }),
});

function paramsOf(call: ToolCall, more: object, retry: object): Record<string, unknown> {
  const args = call.tool === 'get_weather' ? { location: call.location } : { id: call.id, state: 'Resolved' };
  return { name: call.tool, arguments: { ...more, ...args }, ...retry };
}

/** Whether a server at `here` opens a token that `there` has sealed. */
const opens = (here: Place, there: Place): boolean =>
  KEYS_OF[here].includes(KEYS_OF[there][0]) && (here === 'other audience') === (there === 'other audience');

function sameCall(from: Caller, caller: Caller, more: object | undefined): boolean {
  const named = (caller.call.tool === 'get_weather' ? ['location'] : ['id', 'state']) as readonly string[];
  // The SDK drops a member `__proto__` before anybody sees it.
  const added = Object.keys(more ?? {}).some((key) => key !== '__proto__' && !named.includes(key));
  return (
    isDeepStrictEqual(paramsOf(from.call, {}, {}), paramsOf(caller.call, {}, {})) &&
    from.principal === caller.principal &&
    opens(caller.place, from.place) &&
    !added
  );
}

function said({ result, error }: Posted): unknown {
  if (isDeepStrictEqual(error, REJECTED)) return 'rejected';
  if (error) return error;
  if (result?.resultType !== 'input_required') return result && resultText(result);
  return { asks: Object.keys(result.inputRequests as object).join() };
}

const difference = (one: Written, other: Written) => ({
  audits: one.audits - other.audits,
  writes: one.writes - other.writes,
});

type Written = Readonly<Record<'audits' | 'writes', number>>;

interface Presented {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly state: unknown;
  /** The caller whose state it is; undefined if it belongs to none. */
  readonly from: Caller | undefined;
}

class Deployment {
  elapsed = 0;
  readonly #suspect: Suspect;
  readonly #singleUse: SingleUse;
  readonly #worlds: World[] = [];
  readonly #sites = new Map<Place, { readonly face: InProcess; readonly end: () => Promise<void> }>();
  readonly #now = () => NOW + this.elapsed * 1000;
  /** All instances of one deployment share its ledger. */
  readonly #ledger = new MemoryLedger({ now: this.#now });

  constructor(suspect: Suspect, singleUse: SingleUse) {
    this.#suspect = suspect;
    this.#singleUse = singleUse;
  }

  written(): Written {
    return {
      audits: this.#worlds.reduce((sum, world) => sum + world.audit.entries.length, 0),
      writes: this.#worlds.reduce((sum, world) => sum + world.items.writes.length, 0),
    };
  }

  /** Posts, and checks the rules for every reply. */
  async post({ place, principal }: Caller, body: string): Promise<Posted> {
    const authInfo = principal === undefined ? undefined : callerNamed(principal);
    return sound(await this.#site(place).face.post('tools/call', body, { authInfo }));
  }

  /** Makes an honest call up to the caller's stage, and returns its state, if it has one. */
  async reach(caller: Caller): Promise<string | undefined> {
    const params = (retry: object) => JSON.stringify(paramsOf(caller.call, {}, retry));
    let { result } = await this.post(caller, params({}));
    if (caller.stage === 'original') {
      const inputResponses = { resolution: { action: 'accept', content: { resolution: 'Duplicate' } } };
      result = (await this.post(caller, params({ inputResponses, requestState: result?.requestState })))
        .result;
    }
    return result?.requestState as string | undefined;
  }

  owed(caller: Caller, { answers, state, from }: Presented): { says: unknown } & Written {
    const nothing = { audits: 0, writes: 0 };
    if (state !== undefined && !from) return { says: 'rejected', ...nothing };
    if (
      from &&
      this.#suspect.option.claims.modern.otherInstance === 'refused' &&
      from.place !== caller.place
    ) {
      return { says: LOST, ...nothing };
    }
    const { audit } = this.#suspect.option.claims.modern;
    const { end, audits, writes }: Expected = expected(caller.call, from?.stage ?? 'fresh', answers, audit);
    return { says: 'asks' in end ? { asks: end.asks } : end.says, audits, writes };
  }

  async close(): Promise<void> {
    for (const { face, end } of this.#sites.values()) {
      await face.close();
      await end();
    }
  }

  #site(place: Place) {
    const known = this.#sites.get(place);
    if (known) return known;
    const world = createWorld();
    this.#worlds.push(world);
    const running = this.#suspect.option.create({
      world,
      state: this.#policy(place),
      instance: place.replace(' ', '-'),
    });
    const site = { face: new InProcess(() => running.server()), end: () => running.close() };
    this.#sites.set(place, site);
    return site;
  }

  #policy(place: Place): RequestStatePolicy {
    const audience = place === 'other audience' ? 'bank' : undefined;
    const singleUse =
      this.#singleUse === 'off'
        ? ({ singleUse: false } as const)
        : { singleUse: this.#singleUse, ledger: this.#ledger };
    const policy = requestStatePolicy({ audience, ttlSeconds: TTL_SECONDS, now: this.#now, ...singleUse });
    return policyFromParts({ ...partsOf(policy), keys: { ring: RINGS[place] } });
  }
}

/** The reply, if the server is healthy and leaks nothing. */
function sound(came: Posted): Posted {
  if (came.status >= 500) throw new Error(`Status ${came.status}: ${came.text}`);
  const leak = LEAKS.find((pattern) => pattern.test(came.text));
  if (leak) throw new Error(`The reply leaks ${leak}: ${came.text}`);
  return came;
}

const LOST =
  'This call cannot be resumed here: its continuation expired, was resumed already, or is held by another server ' +
  'instance. Start the call again.';

const [KEYS, OTHER_KEYS] = [[SECRET], [SECRET.toUpperCase()]] as [[string], [string]];
const KEYS_OF: Readonly<Record<Place, readonly [string, ...string[]]>> = {
  one: KEYS,
  two: KEYS,
  'other audience': KEYS,
  'other key': OTHER_KEYS,
  'rolled key': [...OTHER_KEYS, ...KEYS],
};

// Stretching keys takes longer than a whole case.
const RINGS = Object.fromEntries(PLACES.map((place) => [place, keyRing(KEYS_OF[place])])) as Readonly<
  Record<Place, ReturnType<typeof keyRing>>
>;

/** A reply must not contain sealed contents, the key, a stack, a path, or the reason of a refusal. */
const LEAKS = [
  /"s\\*":\\*"\w|(?:once|tool-builder|linear|resolve|journal)\/1/,
  new RegExp(SECRET, 'i'),
  /\bat \S+ \(|node:internal|\.[cm]?[jt]s:\d+|node_modules|file:\/\//,
  /tampered|malformed|unknown_key|other_(?:target|audience|principal|arguments)|issued_in_the_future|already_used/,
];
