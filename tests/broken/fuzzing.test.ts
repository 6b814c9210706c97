/** Shows that the fuzzer finds faults: each broken twin lacks one check, and a default run is enough to notice. */

import {
  ask,
  type CallToolResult,
  cancelledResult,
  elicitation,
  type InputRequiredResult,
  protectedServer,
  readAnswer,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import {
  type AuditLog,
  describeWeather,
  GET_WEATHER,
  type GetWeather,
  getWeatherTool,
  Units,
} from '@mrtr/example-tools';
import { type Option, SERVER_INFO } from '@mrtr/option';
import { option as e } from '@mrtr/option-e';
import { option as naive } from '@mrtr/option-e/naive';
import { option as f } from '@mrtr/option-f';
import { MemoryInteractions } from '@mrtr/pages';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { partsOf, policyFrom } from '../../packages/core/src/admission/policy.ts';
import { onlyWhatWasAnswered, type Read } from '../fuzz/answers.ts';
import { onlyItsUserFinishes, type Pages } from '../fuzz/callbacks.ts';
import { firstFailure, holds } from '../fuzz/cases.ts';
import { type BuildPair, onlyOneIsServed } from '../fuzz/presentations.ts';
import { onlyWhatIsOwed, type Suspect } from '../fuzz/servers.ts';
import { policyOf, type Site, type SiteRequest, siteWith } from '../fuzz/sites.ts';
import { type Build, build, onlyWhatWasMinted } from '../fuzz/tokens.ts';

/** The cases that a default run of 10 000 gives each property. MRTR_FUZZ_CASES does not change these tests. */
const [TOKENS, ANSWERS, PRESENTATIONS, SERVER, CALLBACKS] = [6000, 2500, 500, 67, 100];

/** A boundary that gets another request than the client sent. */
const asking =
  (change: (request: SiteRequest) => Partial<SiteRequest>, made: Build = build): Build =>
  (secrets, audience, versions) => {
    const site: Site = made(secrets, audience, versions);
    return {
      ...site,
      request: (request, author) => site.request({ ...request, ...change(request) }, author),
    };
  };

/** Decodes and encodes a token, as a lenient decoder accepts another spelling. */
function leniently(state: string | undefined): string | undefined {
  if (!state?.startsWith('v1.')) return state;
  const [sealed = '', ...label] = state.slice(3).split('~');
  const label_ = label.length > 0 ? `~${label.join('~')}` : '';
  return `v1.${Buffer.from(sealed, 'base64url').toString('base64url')}${label_}`;
}

const BOUNDARIES: readonly (readonly [string, Build])[] = [
  ['forgets the arguments', asking(() => ({ arguments: undefined }))],
  ['forgets the principal', asking(() => ({ principal: undefined }))],
  ['forgets the target', asking(() => ({ target: 'deploy' }))],
  ['forgets the method', asking(() => ({ method: 'tools/call' }))],
  ['is blind to capitals in arguments', asking(({ arguments: given }) => ({ arguments: shouted(given) }))],
  ['forgets the audience', (secrets, _, versions) => build(secrets, 'anywhere', versions)],
  ['forgets the version', (secrets, audience) => build(secrets, audience)],
  [
    'accepts state without a version',
    (secrets, audience, versions) =>
      build(secrets, audience, { ...versions, acceptVersions: [null, ...(versions?.acceptVersions ?? [])] }),
  ],
  [
    'opens with a key that it no longer has',
    (secrets, audience, versions) => build([...new Set([...secrets, '1'.repeat(32)])], audience, versions),
  ],
  [
    'forgets the time',
    (keys, audience, versions) =>
      siteWith(policyOf({ keys, ttlSeconds: 2 ** 24 - 1, ...versions }), audience),
  ],
  ['takes any spelling of base64', asking(({ state }) => ({ state: leniently(state) }))],
  ['trims what it gets', asking(({ state }) => ({ state: state?.trim() }))],
  ['gives the reason of a refusal', telling(build)],
];

function shouted(given: unknown): unknown {
  if (typeof given === 'string') return given.toUpperCase();
  if (Array.isArray(given)) return given.map(shouted);
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, member]) => [key.toUpperCase(), shouted(member)]),
  );
}

function telling(made: Build): Build {
  return (secrets, audience, versions) => {
    const site = made(secrets, audience, versions);
    const request: Site['request'] = (of, author) =>
      site.request(of, author).catch((error: unknown) => {
        throw Object.assign(error as Error, { data: { reason: site.log().at(-1) } });
      });
    return { ...site, request };
  };
}

test.each(BOUNDARIES)('a boundary that %s is found', async (_what, broken) => {
  expect(await firstFailure(onlyWhatWasMinted(broken), TOKENS)).toBeDefined();
});

/** The answer that an author finds without the library's readers. */
const content: Read = ({ mcpReq }, asked) => {
  const { action, content: given } = (mcpReq.inputResponses?.[asked] ?? {}) as {
    action?: string;
    content?: object;
  };
  if (action !== 'accept') return action === 'decline' || action === 'cancel' ? 'refused' : 'nothing';
  return { accepted: (given as Record<string, unknown> | undefined)?.[asked] };
};

test.each<[string, Read]>([
  ['is not validated', content],
  [
    'is converted before it is validated',
    (ctx, asked) => {
      const raw = content(ctx, asked);
      return typeof raw === 'object' && typeof raw.accepted === 'string' && asked === 'original'
        ? { accepted: Number(raw.accepted) }
        : raw;
    },
  ],
  [
    'counts although it was declined',
    (ctx, asked) => {
      const raw = content(ctx, asked);
      return raw === 'refused' ? 'nothing' : raw;
    },
  ],
])('an answer that %s is found', async (_what, read) => {
  expect(await firstFailure(onlyWhatWasAnswered(read), ANSWERS)).toBeDefined();
});

const apart: BuildPair = (singleUse) => {
  const site = () => siteWith(policyOf({ keys: ['k'.repeat(32)], singleUse }), 'shop');
  return [site(), site()];
};
const forgetful: BuildPair = () => {
  const site = () => siteWith(policyOf({ keys: ['k'.repeat(32)] }), 'shop');
  return [site(), site()];
};

test.each([
  ['that do not share a ledger', apart],
  ['without any ledger', forgetful],
])('instances %s are found', async (_what, pair) => {
  expect(await firstFailure(onlyOneIsServed(pair), PRESENTATIONS)).toBeDefined();
});

type Deps = Parameters<Option['create']>[0];
type Weather = (
  deps: Deps,
) => (args: GetWeather, ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

/** Option E with another weather handler, and without the other tool. */
const withWeather = (weather: Weather): Option => ({
  ...e,
  create: (deps) => ({
    server() {
      const server = protectedServer(SERVER_INFO, deps.state);
      server.registerTool(GET_WEATHER, getWeatherTool, weather(deps));
      return server;
    },
    close: async () => {},
  }),
});

const changed = (option: Option, change: (deps: Deps) => Partial<Deps>): Option => ({
  ...option,
  create: (deps) => option.create({ ...deps, ...change(deps) }),
});

const units = elicitation('Which units?', Units);
const asked = () => ask({ units });

/** Asks with a schema, and accepts any answer. */
const believing = withWeather(({ world }) => async ({ location }, { mcpReq }) => {
  const answer = mcpReq.inputResponses?.units as
    | { action: string; content?: z.infer<typeof Units> }
    | undefined;
  if (answer?.action === 'decline' || answer?.action === 'cancel') return cancelledResult('units');
  if (answer?.action !== 'accept' || answer.content?.units === undefined) return asked();
  await world.audit.record(location);
  return textResult(describeWeather(await world.weather.current(location, answer.content.units)));
});

/** Puts the whole error into its result. */
const talkative = withWeather(() => async (_args, ctx) => {
  const answer = readAnswer(ctx, 'units', units);
  if (answer.kind === 'invalid') throw new Error(new Error('The answer does not fit.').stack);
  return asked();
});

test.each<[string, Suspect]>([
  [
    'accepts answers to questions that it has not asked',
    {
      option: changed(e, ({ state }) => ({
        state: policyFrom({ ...partsOf(state), unaskedAnswers: 'accept' }),
      })),
    },
  ],
  ['has its effect in every round', { option: { ...naive, claims: e.claims } }],
  ['does not validate', { option: believing, only: GET_WEATHER }],
  ['shows a stack', { option: talkative, only: GET_WEATHER }],
  [
    'does not ask the ledger',
    {
      option: changed(f, ({ state }) => ({ state: policyFrom({ ...partsOf(state), singleUse: undefined }) })),
    },
  ],
  [
    'does not know who is calling',
    {
      option: changed(f, ({ state }) => ({ state: state.with({ principal: () => 'all' }) })),
    },
  ],
  [
    'writes twice',
    {
      option: changed(f, ({ world }) => ({ world: { ...world, audit: twice(world.audit) } })),
    },
  ],
])('an option that %s is found', async (_what, suspect) => {
  expect(await firstFailure(onlyWhatIsOwed(suspect), SERVER)).toBeDefined();
});

const twice = (audit: AuditLog): AuditLog => ({
  ...audit,
  record: async (entry) => {
    await audit.record(entry);
    await audit.record(entry);
  },
});

class Careless extends MemoryInteractions {
  override async replace(id: string, before: string, after: string) {
    return (await super.replace(id, before, after)) || super.replace(id, (await this.find(id)) ?? '', after);
  }
}

test.each<readonly [string, Pages]>([
  ['take every browser for the same user', { identifyBrowser: () => 'ada' }],
  ['take a state as often as it comes', { store: (now) => new Careless({ now }) }],
  ['forget the time', { store: () => new MemoryInteractions({ now: () => 0 }) }],
])('pages that %s are found', async (_what, pages) => {
  expect(await firstFailure(onlyItsUserFinishes(pages), CALLBACKS)).toBeDefined();
});

test('a polluted prototype is found', async () => {
  const merged = fc.property(fc.constant('polluted'), (key) => {
    Reflect.set(Object.prototype, key, true);
  });
  try {
    await expect(holds(merged, 1)).rejects.toThrow('Object.prototype has new members: polluted.');
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted');
  }
});
