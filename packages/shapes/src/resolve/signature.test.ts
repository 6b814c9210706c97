/** Building a tool reports the mistakes in its declarations, with the path to each. */
import { inputRequired, type ReadResourceResult } from '@modelcontextprotocol/server';
import { elicitation, textResult } from '@mrtr/core';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { Args, countRuns, metric, TestDeployment, tool, Units } from '../fixture.test-support.ts';
import {
  argument,
  InvalidSignature,
  type Needs,
  outcome,
  type Resolver,
  resolve,
  resolveResource,
  resolver,
} from './index.ts';

const units = resolver('units', {}, () => elicitation('Which units?', Units));
const endCall = () => textResult('done');

const needing = (name: string, needs: unknown): Resolver<string> =>
  resolver(name, needs as Needs, () => name) as Resolver<string>;

const inner: Record<string, Resolver<string>> = {};
const cyclic = needing('outer', { inner: needing('inner', inner) });
inner.outer = cyclic;

const namesake = resolver('units', {}, () => 'metric');
const ARGUMENTS = `which the tool's input schema does not have. It has: n.`;
const FILLERS = 'is not a resolver, outcome(...), argument() or requestContext(), so nothing can fill it.';
const PARAMETERS = 'p is not a resolver or outcome(...), so nothing can fill it.';

test.each<[what: string, params: Record<string, unknown>, message: string]>([
  [
    'needs an argument that the schema does not have',
    { p: needing('outer', { inner: needing('inner', { city: argument('location') }) }) },
    `p → outer → inner → city needs the argument 'location', ${ARGUMENTS}`,
  ],
  [
    'needs an inherited name',
    { p: needing('r', { toString: argument() }) },
    `p → r → toString needs the argument 'toString', ${ARGUMENTS}`,
  ],
  [
    'needs what another resolver fills',
    { p: needing('r', { other: argument('units') }), units },
    `p → r → other needs the argument 'units', ${ARGUMENTS}`,
  ],
  [
    'has the name of another one',
    { one: needing('r', { units }), other: outcome(namesake) },
    "Two different resolvers are named 'units' (one → r → units, and other → units). Answers are kept by name: rename one of them.",
  ],
  [
    'needs its own value',
    { p: cyclic },
    "p → outer → inner → outer is a cycle: 'outer' needs its own value, so it can never run. Take out one need.",
  ],
  ['needs a plain value', { p: needing('r', { city: 'Tokyo' }) }, `p → r → city ${FILLERS}`],
  ['needs null', { p: needing('r', { city: null }) }, `p → r → city ${FILLERS}`],
  [
    'needs the outcome of nothing',
    { p: needing('r', { city: outcome(undefined as never) }) },
    `p → r → city ${FILLERS}`,
  ],
  ['is missing', { p: undefined }, PARAMETERS],
  ['is an argument', { p: argument() }, PARAMETERS],
  ['is the outcome of nothing', { p: outcome(undefined as never) }, PARAMETERS],
  [
    'has the name of an argument of the schema',
    { n: units },
    "'n' is injected and also in the input schema, so callers would send a value that is discarded. Take it out of the schema.",
  ],
])('a resolver that %s is rejected when the tool is built', (_what, params, message) => {
  const body = countRuns(endCall);
  expect(() => resolve(Args, params as never, body)).toThrow(new InvalidSignature(message));
  expect(body.runs).toBe(0);
});

test.each<[string, Parameters<typeof resolver>, string]>([
  ['name', ['', {}, endCall], 'resolver: name must be a text'],
  ['needs', ['units', undefined as never, endCall], "resolver 'units': needs must be an object"],
  ['fn', ['units', {}, undefined as never], "resolver 'units': fn must be a function"],
])('a resolver without %s is rejected where it is made', (_what, given, words) => {
  expect(() => resolver(...given)).toThrow(words);
});

test('the message shows that a tool has no arguments, and what a resource has', () => {
  const build = () => resolve(z.object({}), { p: needing('r', { city: argument() }) }, endCall);
  expect(build).toThrow('It has: none.');
  expect(() => resolveResource({ uri: units }, () => ({ contents: [] }))).toThrow("'uri' is injected and");
});

test('a resource asks through a resolver that needs its URL, and the body gets both', async () => {
  const asking = resolver('units', { uri: argument<URL>() }, ({ uri }) =>
    elicitation(`Which units for ${uri.href}?`, Units),
  );
  const read = resolveResource({ asking }, ({ uri, asking }): ReadResourceResult => {
    expectTypeOf(uri).toEqualTypeOf<URL>();
    return { contents: [{ uri: uri.href, text: asking.units }] };
  });
  const client = await new TestDeployment((server) => {
    server.registerResource('resource', 'test://resource', {}, read);
  }).connect();
  const first = await client.resource();
  expect(first.asks).toEqual({ units: 'Which units for test://resource?' });
  expect(await client.resource({ inputResponses: { units: metric }, requestState: first.state })).toEqual({
    says: 'metric',
  });
});

test('an argument that the schema does not have, or has in another type, does not compile', () => {
  const body = () => textResult('');
  const Repo = z.object({ repo: z.string(), n: z.number().optional() });
  const fits = resolver('fits', { repo: argument<string>(), n: argument<number | undefined>() }, () => 1);
  resolve(Repo, { fits, outcome: outcome(fits), other: resolver('other', { fits }, () => 2) }, body);
  const number = resolver('number', { repo: argument<number>() }, ({ repo }) => repo.toFixed());
  const through = resolver('through', { number }, ({ number }) => number);
  const optional = resolver('optional', { n: argument<number>() }, ({ n }) => n.toFixed());
  const absent = resolver('absent', { city: argument<string>() }, ({ city }) => city);
  // @ts-expect-error 'repo' is a text
  resolve(Repo, { number }, body);
  // @ts-expect-error also where another resolver needs it, or the body takes the outcome
  resolve(Repo, { through: outcome(through) }, body);
  // @ts-expect-error 'n' may be absent
  resolve(Repo, { fits, optional }, body);
  // @ts-expect-error 'city' is not in the schema
  expect(() => resolve(Repo, { absent }, body)).toThrow("needs the argument 'city'");
  // @ts-expect-error a resource has a URL alone
  expect(() => resolveResource({ number }, () => ({ contents: [] }))).toThrow("needs the argument 'repo'");
});

// What callers see

test('injected parameters are not advertised, and a caller’s value for one is discarded', async () => {
  const inputSchema = z.looseObject({ n: z.number() });
  const nothing = resolver('nothing', {}, () => undefined);
  const body = resolve(inputSchema, { units, nothing }, (args) =>
    textResult(JSON.stringify([args.units, args.nothing === undefined])),
  );
  const site = new TestDeployment(
    (server) => void server.registerTool('tool', { inputSchema }, body as never),
  );
  const client = await site.connect(() => metric);
  const forged = { n: 1, units: { units: 'imperial' }, nothing: 'something' };
  expect(await client.call(forged)).toEqual({ says: '[{"units":"metric"},true]' });
  const [advertised] = await client.tools();
  expect(Object.keys(advertised?.inputSchema.properties ?? {})).toEqual(['n']);
});

test('a body that returns input_required by hand is rejected in the call', async () => {
  const byHand = (() => inputRequired({ requestState: 'mine' })) as unknown as typeof endCall;
  const client = await new TestDeployment(tool(resolve(Args, { units }, byHand))).connect(() => metric);
  expect(await client.call()).toEqual({
    fails:
      "'tool' declares resolvers and also returned input_required by hand. Its state is the resolvers': " +
      'let one of them ask.',
  });
});
