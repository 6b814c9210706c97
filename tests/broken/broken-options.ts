/** Options that are broken on purpose: one for each fault that an invariant must detect. */

import { randomBytes } from 'node:crypto';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import {
  describeWeather,
  GET_WEATHER,
  type GetWeather,
  getWeatherTool,
  SERVER_INFO,
  Units,
  type World,
} from '@mrtr/comparison';
import type { Measured } from '@mrtr/comparison/calls';
import type { Claims } from '@mrtr/comparison/claims';
import { type LoadedOption, loadOption, type OptionDeps } from '@mrtr/comparison/options';
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  protectedServer,
  readAnswer,
  requestStatePolicy,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { partsOf, policyFromParts } from '../../packages/core/src/admission/policy.ts';

const [a, bare, f, h] = (await Promise.all(['a', 'e-bare', 'f', 'h'].map((id) => loadOption(id)))) as [
  LoadedOption,
  LoadedOption,
  LoadedOption,
  LoadedOption,
];

type Weather = (
  world: World,
) => (args: GetWeather, ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

/** Option A's claims with another weather handler, and without the other tool. */
const withWeather = (
  id: string,
  weather: Weather,
  claims: Claims = a.claims,
): Measured & Pick<LoadedOption, 'create'> => ({
  id,
  title: id,
  claims,
  create: ({ world, policy }: OptionDeps) => ({
    server() {
      const server = protectedServer(SERVER_INFO, policy.with({ legacy: 'shim' }));
      server.registerTool(GET_WEATHER, getWeatherTool, weather(world));
      return server;
    },
    close: async () => {},
  }),
});

interface Guarded {
  readonly key?: string;
  readonly message?: string;
  readonly above?: (world: World) => Promise<void>;
  readonly below?: (world: World, location: string) => Promise<void>;
  readonly asksAgainOnDecline?: boolean;
}

/** Option A's weather, with one change. */
const guarded =
  ({ key = 'units', message = 'Which units?', above, below, asksAgainOnDecline = false }: Guarded): Weather =>
  (world) =>
  async ({ location }, ctx) => {
    await above?.(world);
    const units = elicitation(message, Units);
    const answer = readAnswer(ctx, key, units);
    if (isRefusal(answer) && !asksAgainOnDecline) return cancelledResult(key);
    if (answer.kind !== 'accepted') return ask({ [key]: units });
    await (below ?? ((there, place) => there.audit.record(place)))(world, location);
    return textResult(describeWeather(await world.weather.current(location, answer.value.units)));
  };

export const asksDifferently = withWeather('asks-differently', guarded({ message: 'Metric or imperial?' }));
/** Asks the same question under another wire key. */
export const keysDifferently = withWeather('keys-differently', guarded({ key: 'u' }));
/** Treats a decline as a missing answer. */
export const asksAgainOnDecline = withWeather('asks-again', guarded({ asksAgainOnDecline: true }));
/** Writes the audit entry above the guard, and claims that it is below. */
export const auditsPerRound = withWeather(
  'audits-per-round',
  guarded({ above: (world) => world.audit.record('Tokyo'), below: async () => {} }),
);
/** Writes a work item when asked about the weather. */
export const writesTwice = withWeather(
  'writes',
  guarded({ below: async (world) => void (await world.items.setState(4522, 'Active')) }),
);
/** Makes an option with false claims. */
const lying = (
  id: string,
  option: Pick<LoadedOption, 'claims' | 'create'>,
  modern: Partial<Claims['modern']>,
): Measured => ({
  ...option,
  title: 'broken',
  id,
  claims: { ...option.claims, modern: { ...option.claims.modern, ...modern } },
});

export const hidesFrames = lying('hides-frames', h, { framesHeld: 0 });
export const hidesEntries = lying('hides-entries', f, { entries: 'once' });
/** Claims fewer bytes than its state has. */
export const hidesBytes = lying('hides-bytes', f, {
  stateBytes: { get_weather: [0], resolve_work_item: [0, 0] },
});
/** Gives each instance its own key, and claims that any instance can resume a call. */
export const ownKeyPerInstance: Measured = {
  ...f,
  title: 'broken',
  id: 'own-key',
  create: (deps) => {
    const policy = requestStatePolicy({
      keys: [randomBytes(32)],
      legacy: partsOf(deps.policy).legacy,
      singleUse: false,
    });
    return f.create({ ...deps, policy });
  },
};
/** Holds calls in memory, and claims that any instance can resume them when this one is killed. */
export const hidesKills = lying('hides-kills', h, { afterKill: 'finishes' });
/** Writes, and then refuses every answer with an unclear message, as if it had forgotten the question. */
export const writesBeforeRefusing = withWeather(
  'writes-before-refusing',
  guarded({
    below: async (world, location) => {
      await world.audit.record(location);
      throw new Error('Oops.');
    },
  }),
  { ...a.claims, modern: { ...a.claims.modern, afterKill: 'rejected' } },
);
/** Drops the policy's single use on the way to its server. */
export const forgetsSingleUse: Measured = {
  ...f,
  title: 'broken',
  id: 'forgets-single-use',
  create: (deps) =>
    f.create({ ...deps, policy: policyFromParts({ ...partsOf(deps.policy), singleUse: undefined }) }),
};
/** Uses the SDK alone, and claims that nothing can be forged. */
export const hidesForgeries = lying('hides-forgeries', bare, { forgeries: 'rejected' });
/** Writes before it checks whether it can ask. */
export const writesBeforeFailing = withWeather(
  'writes-before-failing',
  guarded({ above: (world) => world.audit.record('Tokyo'), below: async () => {} }),
  { ...a.claims, legacy: { ...a.claims.legacy, audit: 'every-entry' } },
);
