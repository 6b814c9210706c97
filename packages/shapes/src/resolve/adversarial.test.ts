/** Hostile clients, deploys between rounds, and odd resolvers. */
import { elicitation, listRoots, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import {
  Args,
  accept,
  ada,
  metric,
  Name,
  type Register,
  TestDeployment,
  tool,
  Units,
} from '../fixture.test-support.ts';
import { outcome, type Resolvable, resolve, resolver } from './index.ts';

const imperial = accept({ units: 'imperial' });
const units = resolver('units', {}, () => elicitation('Which units?', Units));
const name = resolver('name', { units: outcome(units) }, () => elicitation('Which name?', Name));

const says = (params: Readonly<Record<string, Resolvable>>): Register =>
  tool(resolve(Args, params, (args) => textResult(JSON.stringify(args))));

// Lies

test('an answer counts only while its resolver still asks', async () => {
  const asking = resolver('which', {}, () => elicitation('Which units?', Units));
  const computing = resolver('which', {}, () => ({ units: 'metric' as const }));
  const site = new TestDeployment(says({ which: asking, name }));
  const client = await site.connect();
  const first = await client.send();
  site.deploy(says({ which: computing, name }));
  const second = await client.answer(first, { which: imperial, units: metric });
  expect(await client.answer(second, { name: ada })).toEqual({
    says: '{"which":{"units":"metric"},"name":{"name":"Ada"}}',
  });
});

test('the state drops answers of a resolver that a deploy removed', async () => {
  const removed = resolver('removed', {}, () => ({ deep: elicitation('Which name?', Name) }));
  const site = new TestDeployment(says({ removed, units }));
  const client = await site.connect();
  const asked = await client.answer(await client.send(), { 'removed.deep': ada });
  site.deploy(says({ units }));
  expect((await client.answer(asked, {})).state).toHaveLength((await client.send()).state?.length ?? 0);
});

// State

// Authors

test('the next round does not see a resolver’s changes to an answer', async () => {
  const roots = resolver('roots', {}, () => listRoots());
  const shouted = resolver('shouted', { roots }, ({ roots }) => {
    for (const root of roots.roots) root.uri += '!';
    return roots.roots.map(({ uri }) => uri).join();
  });
  const sure = resolver('sure', { shouted }, ({ shouted }) => elicitation(`Really ${shouted}?`, Name));
  const client = await new TestDeployment(says({ sure })).connect(undefined, { elicitation: {}, roots: {} });
  const second = await client.answer(await client.send(), { roots: { roots: [{ uri: 'file:///home' }] } });
  expect(second.asks).toEqual({ sure: 'Really file:///home!?' });
  expect(await client.answer(second, { sure: ada })).toEqual({ says: '{"sure":{"name":"Ada"}}' });
});
