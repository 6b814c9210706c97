import { type ReadResourceResult, textResult } from '@mrtr/core';
import { expect, expectTypeOf, test } from 'vitest';
import { ada, decline, metric, Name, Site, Units } from '../fixture.test-support.ts';
import { injected, injectedResource } from './injected.ts';
import { argument, elicit, outcome, resolver } from './resolver.ts';

const text = (uri: URL, said: string): ReadResourceResult => ({ contents: [{ uri: uri.href, text: said }] });

const site = (callback: ReturnType<typeof injectedResource>) =>
  new Site((server) => {
    server.registerResource('resource', 'test://resource', {}, callback as never);
  });

const units = resolver('units', { uri: argument<URL>() }, ({ uri }) =>
  elicit(`Which units for ${uri.href}?`, Units),
);

test('a resource asks through a resolver that needs its URL, and the body gets both', async () => {
  const callback = injectedResource({ units }, ({ uri, units }) => {
    expectTypeOf(uri).toEqualTypeOf<URL>();
    expectTypeOf(units.units).toEqualTypeOf<'metric' | 'imperial'>();
    return text(uri, units.units);
  });
  const client = await site(callback).connect();
  const first = await client.resource();
  expect(first.asks).toEqual({ units: 'Which units for test://resource?' });
  expect(await client.resource({ inputResponses: { units: metric }, requestState: first.state })).toEqual({
    says: 'metric',
  });
});

test('independent questions of a resource go out in one round', async () => {
  const name = resolver('name', {}, () => elicit('Which name?', Name));
  const client = await site(
    injectedResource({ units, name }, ({ uri, units, name }) => text(uri, `${name.name}: ${units.units}`)),
  ).connect();
  const { asks, state } = await client.resource();
  expect(Object.keys(asks ?? {})).toEqual(['units', 'name']);
  expect(
    await client.resource({ inputResponses: { units: metric, name: ada }, requestState: state }),
  ).toEqual({
    says: 'Ada: metric',
  });
});

test('a refusal ends the read with a JSON-RPC error, unless the body takes the outcome', async () => {
  const plain = await site(injectedResource({ units }, ({ uri }) => text(uri, 'never'))).connect();
  const whole = await site(
    injectedResource({ units: outcome(units) }, ({ uri, units }) => text(uri, units.kind)),
  ).connect();
  for (const [client, expected] of [
    [plain, { rejects: expect.stringContaining('The user declined to answer.') }],
    [whole, { says: 'declined' }],
  ] as const) {
    const { state } = await client.resource();
    expect(await client.resource({ inputResponses: { units: decline }, requestState: state })).toEqual(
      expected,
    );
  }
});

test('declarations that cannot work are refused when the resource is built', () => {
  const needy = resolver('needy', { location: argument<string>() }, ({ location }) => location);
  expect(() => injectedResource({ needy }, ({ uri }) => text(uri, ''))).toThrow(
    "needy → needy → location needs the argument 'location'",
  );
  const uri = resolver('uri', {}, () => 'x');
  expect(() => injectedResource({ uri }, () => text(new URL('test://x'), ''))).toThrow(
    "'uri' is injected and also",
  );
  expect(() => injected(Units, { units }, () => textResult(''))).toThrow("'units' is injected and also");
});
