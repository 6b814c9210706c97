/** Building a tool reports the mistakes in its declarations, with the path to each. */
import { inputRequired } from '@modelcontextprotocol/server';
import { elicitation, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Args, countRuns, metric, Site, tool, Units } from '../fixture.test-support.ts';
import type { HandlerContext } from '../kit/handler-context.ts';
import {
  argument,
  buildResolverPlans,
  findResolvedParameters,
  type Needs,
  outcome,
  type Resolver,
  requestContext,
  resolve,
  resolveArguments,
  resolveResource,
  resolver,
} from './index.ts';
import { InvalidSignature } from './plan.ts';

const units = resolver('units', {}, () => elicitation('Which units?', Units));
const endCall = () => textResult('done');

const needing = (name: string, needs: unknown): Resolver<string> =>
  resolver(name, needs as Needs, () => name) as Resolver<string>;

function cycle(length: number): Resolver<string> {
  const ring: Resolver<string>[] = [];
  for (let at = 0; at < length; at++) {
    ring.push(needing(`r${at}`, () => ({ next: ring[(at + 1) % length] })));
  }
  return needing('entrance', { ring: outcome(ring[0] as Resolver<string>) });
}

test('an argument that the schema does not have, or has in another type, does not compile', () => {
  const absent = resolver('absent', { city: argument<string>() }, ({ city }) => city);
  const other = resolver('other', { n: argument<string>() }, ({ n }) => n);
  const through = resolver('through', { other }, ({ other }) => other);
  // @ts-expect-error 'city' is not in the schema
  expect(() => resolve(Args, { absent }, endCall)).toThrow("needs the argument 'city'");
  // @ts-expect-error 'n' is a number
  resolve(Args, { other }, endCall);
  // @ts-expect-error and so it is where another resolver needs it, and where the outcome is wanted
  resolve(Args, { through: outcome(through) }, endCall);
});

const namesake = resolver('units', {}, () => 'metric');
const ARGUMENTS = `which the tool's input schema does not have. It has: n.`;
const FILLERS = 'is not a resolver, outcome(...), argument() or requestContext(), so nothing can fill it.';

test.each<[what: string, params: Record<string, unknown>, message: string]>([
  ['needs itself', { p: cycle(1) }, 'The resolvers need each other: p → entrance → r0 → r0.'],
  ['is in a cycle', { p: cycle(3) }, 'The resolvers need each other: p → entrance → r0 → r1 → r2 → r0.'],
  [
    'needs an argument that the schema does not have',
    { p: needing('outer', { inner: needing('inner', { city: argument() }) }) },
    `p → outer → inner → city needs the argument 'city', ${ARGUMENTS}`,
  ],
  [
    'needs an argument by another name that the schema does not have',
    { p: needing('r', { city: argument('location') }) },
    `p → r → city needs the argument 'location', ${ARGUMENTS}`,
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
  ['needs a plain value', { p: needing('r', { city: 'Tokyo' }) }, `p → r → city ${FILLERS}`],
  ['needs nothing under a name', { p: needing('r', { city: undefined }) }, `p → r → city ${FILLERS}`],
  ['needs null', { p: needing('r', { city: null }) }, `p → r → city ${FILLERS}`],
  [
    'needs the outcome of nothing',
    { p: needing('r', { city: outcome(undefined as never) }) },
    `p → r → city ${FILLERS}`,
  ],
  ['is missing', { p: undefined }, 'p is not a resolver or outcome(...), so nothing can fill it.'],
  ['is an argument', { p: argument() }, 'p is not a resolver or outcome(...), so nothing can fill it.'],
  [
    'is the outcome of nothing',
    { p: outcome(undefined as never) },
    'p is not a resolver or outcome(...), so nothing can fill it.',
  ],
  [
    'has the name of an argument of the schema',
    { n: units },
    "'n' is injected and also in the input schema, so callers would send a value that is discarded. Take it out of the schema.",
  ],
])('a resolver that %s is refused when the tool is built', (_what, params, message) => {
  const body = countRuns(endCall);
  const build = () => resolve(Args, params as never, body);
  expect(build).toThrow(new InvalidSignature(message));
  expect(build).toThrow(InvalidSignature);
  expect(body.runs).toBe(0);
});

test('the message shows that a tool has no arguments', () => {
  expect(() => resolve(z.object({}), { p: needing('r', { city: argument() }) }, endCall)).toThrow(
    new InvalidSignature(
      "p → r → city needs the argument 'city', which the tool's input schema does not have. It has: none.",
    ),
  );
  expect(() => resolveResource({ uri: units }, () => ({ contents: [] }))).toThrow(InvalidSignature);
});

test('a resolver that many share, on many paths, is analysed once', () => {
  const asked = countRuns(() => ({}));
  let deep: Resolver<string> = needing('r0', asked);
  for (let level = 1; level <= 16; level++) deep = needing(`r${level}`, { left: deep, right: outcome(deep) });
  const plans = buildResolverPlans(findResolvedParameters({ deep }), new Set());
  expect([plans.size, asked.runs]).toEqual([17, 1]);
});

test('a resolver may need one that is declared further down', async () => {
  const late: Resolver<string> = needing('late', () => ({ units }));
  const client = await new Site(tool(resolve(Args, { late }, ({ late }) => textResult(late)))).connect();
  expect((await client.send()).asks).toEqual({ units: 'Which units?' });
});

test('the public steps find the parameters, plan their resolvers, and resolve them', async () => {
  const label = resolver(
    'label',
    {
      units,
      whole: outcome(units),
      n: argument<number>(),
      at: argument<string>('place'),
      ctx: requestContext(),
    },
    ({ n, at, whole }) => `${at} ${n} ${whole.kind}`,
  );
  const resolved = findResolvedParameters({ label, units: outcome(units) });
  expect([...resolved]).toEqual([
    ['label', { resolver: label, wantsOutcome: false }],
    ['units', { resolver: units, wantsOutcome: true }],
  ]);
  const plans = buildResolverPlans(resolved, new Set(['n', 'place']));
  expect([...plans]).toEqual([
    [units, { arguments: new Map(), resolvers: new Map(), contexts: [] }],
    [
      label,
      {
        arguments: new Map([
          ['n', 'n'],
          ['at', 'place'],
        ]),
        resolvers: new Map([
          ['units', { resolver: units, wantsOutcome: false }],
          ['whole', { resolver: units, wantsOutcome: true }],
        ]),
        contexts: ['ctx'],
      },
    ],
  ]);
  const request = {
    toolArguments: { n: 1, place: 'Tokyo' },
    context: {} as HandlerContext,
    onEntry: () => {},
    recall: { read: () => ({ kind: 'accepted', value: { units: 'metric' } }) as never },
  };
  expect(await resolveArguments(resolved, plans, request)).toEqual({
    values: { label: 'Tokyo 1 accepted', units: { kind: 'accepted', value: { units: 'metric' } } },
  });
});

// What callers see

test('injected parameters are not advertised, and a caller’s value for one is discarded', async () => {
  for (const inputSchema of [z.object({ n: z.number() }), z.looseObject({ n: z.number() })]) {
    const site = new Site((server) => {
      const body = resolve(
        inputSchema,
        { units, nothing: resolver('nothing', {}, () => undefined) },
        (args) => textResult(JSON.stringify([args.units, args.nothing === undefined])),
      );
      server.registerTool('tool', { inputSchema }, body as never);
    });
    const client = await site.connect(() => metric);
    const forged = { n: 1, units: { units: 'imperial' }, nothing: 'something' };
    expect(await client.call(forged)).toEqual({ says: '[{"units":"metric"},true]' });
    const [advertised] = await client.tools();
    expect(Object.keys(advertised?.inputSchema.properties ?? {})).toEqual(['n']);
  }
});

test('a body that returns input_required by hand does not compile, and is refused in the call', async () => {
  const byHand = (() => inputRequired({ requestState: 'mine' })) as unknown as typeof endCall;
  // @ts-expect-error the state is the resolvers'
  void resolve(Args, { units }, () => inputRequired({ requestState: 'mine' }));
  const client = await new Site(tool(resolve(Args, { units }, byHand))).connect(() => metric);
  expect(await client.call()).toEqual({
    fails:
      "'tool' declares resolvers and also returned input_required by hand. Its state is the resolvers': " +
      'let one of them ask.',
  });
});
