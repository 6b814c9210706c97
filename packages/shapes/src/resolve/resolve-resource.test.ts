import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { elicitation, textResult } from '@mrtr/core';
import { expect, expectTypeOf, test } from 'vitest';
import { metric, Site, Units } from '../fixture.test-support.ts';
import { argument, resolve, resolveResource, resolver } from './index.ts';

const text = (uri: URL, said: string): ReadResourceResult => ({ contents: [{ uri: uri.href, text: said }] });

const site = (callback: ReturnType<typeof resolveResource>) =>
  new Site((server) => {
    server.registerResource('resource', 'test://resource', {}, callback as never);
  });

const units = resolver('units', { uri: argument<URL>() }, ({ uri }) =>
  elicitation(`Which units for ${uri.href}?`, Units),
);

test('a resource asks through a resolver that needs its URL, and the body gets both', async () => {
  const callback = resolveResource({ units }, ({ uri, units }) => {
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

test('declarations that cannot work are refused when the resource is built', () => {
  const needy = resolver('needy', { location: argument<string>() }, ({ location }) => location);
  expect(() => resolveResource({ needy }, ({ uri }) => text(uri, ''))).toThrow(
    "needy → needy → location needs the argument 'location'",
  );
  const uri = resolver('uri', {}, () => 'x');
  expect(() => resolveResource({ uri }, () => text(new URL('test://x'), ''))).toThrow(
    "'uri' is injected and also",
  );
  // @ts-expect-error the schema has no argument 'uri'
  expect(() => resolve(Units, { units }, () => textResult(''))).toThrow("'units' is injected and also");
});
