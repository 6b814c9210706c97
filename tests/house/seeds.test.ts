/**
 * Everything that this project began with runs here: `mrtr_options` and `resolve` of the Python SDK, by the names that
 * they have there. Add to the table; take nothing out of it.
 */
import { elicitation, speaksMrtr, textResult } from '@mrtr/core';
import { shapeCallback } from '@mrtr/core/shape';
import { handlerContext, Recall } from '@mrtr/shapes';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { once } from '@mrtr/shapes/once';
import { InvalidSignature, outcome, type Resolver, resolve, resolver } from '@mrtr/shapes/resolve';
import { buildResolverPlans, findResolvedParameters, resolveArguments } from '@mrtr/shapes/resolve/engine';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { expect, test } from 'vitest';
import { awaitShim } from '../../demos/option-b-await/await-shim.ts';
import { byEra } from '../../demos/option-d-by-era/by-era.ts';
import {
  Args,
  countRuns,
  decline,
  metric,
  TestDeployment,
  tool,
  Units,
} from '../../packages/shapes/src/fixture.test-support.ts';
import { run } from '../../tools/cli/src/terminal.test-support.ts';
import { textOf } from '../testkit/project-files.ts';

const METRIC = 'Weather in Tokyo: 22°C, partly cloudy.';

interface Place {
  readonly here: string;
  readonly runs: () => unknown;
}

/** A demo, which the help names, with these texts in its drawing. */
const demo = (line: string, ...texts: readonly string[]): Place => ({
  here: `pnpm demo ${line}`,
  runs: async () => {
    const [{ out: help }, { code, out, err }] = await Promise.all([run('--help'), run(line)]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(help).toMatch(new RegExp(`^ {2}${line.split(' ')[0]}[| ]`, 'm'));
    for (const text of texts) expect(out).toContain(text);
  },
});

const functions = (here: string, ...all: readonly unknown[]): Place => ({
  here,
  runs: () => expect(all.map((one) => typeof one)).toEqual(all.map(() => 'function')),
});

const textIn = (here: string, text: RegExp): Place => ({
  here,
  runs: () => expect(textOf(here)).toMatch(text),
});

const meaningOf = (word: string) => textIn('docs/glossary.md', new RegExp(`^\\* \\*\\*${word}\\*\\*: `, 'm'));

const units = resolver('units', {}, () => elicitation('Which units?', Units));
const steps = ToolBuilder.prototype;

/** Calls a tool with these parameters, whose user declines. */
const call = async (params: Parameters<typeof resolve>[1]) => {
  const body = tool(resolve(Args, params, (args) => textResult(JSON.stringify(args))));
  return (await new TestDeployment(body).connect(() => decline)).call();
};

const SYSTEMS: Readonly<Record<string, Place>> = {
  'basic.py': demo('basic', '2 rounds', 'Deployed to production.'),
  'basic_multiround.py': demo('basic-multiround --hosting fleet', '3 rounds', 'Duplicate of #4301.'),
  'A, MRTR-native only': demo('option-a', METRIC),
  'A, sse_retry_shim': demo('option-a --client legacy', METRIC, 'a stream held open'),
  'B, await elicit()': functions('demos/option-b-await/await-shim.ts', awaitShim),
  'B, its audit_log landmine': demo('option-b', 'audit written 2×'),
  'C, one handler with a version branch': demo('option-c', METRIC),
  'C, its old-client arm': demo('option-c --client legacy', METRIC, 'a stream held open'),
  'C, the version accessor': functions('@mrtr/core: speaksMrtr', speaksMrtr),
  'D, two handlers': functions('demos/option-d-by-era/by-era.ts', byEra),
  'D, picked by version': demo('option-d', METRIC),
  'E, the default': demo('option-e', METRIC),
  'F, a monolithic handler': demo('option-f', METRIC, 'audit written 1×'),
  'F, MrtrCtx.once': functions('@mrtr/shapes/once', once),
  'G, step functions': demo('option-g', METRIC, 'audit written 1×'),
  'G, ToolBuilder': functions('@mrtr/shapes/tool-builder', ToolBuilder),
  'G, incomplete_step': functions('ToolBuilder.incompleteStep', steps.incompleteStep),
  'G, end_step': functions('ToolBuilder.endStep', steps.endStep),
  'G, build': functions('ToolBuilder.build', new ToolBuilder().endStep(() => textResult('')).build),
  'H, linear continuation': functions('@mrtr/shapes/linear', linear),
  'H, its store of coroutine frames': functions('ContinuationStore', ContinuationStore),
  'H, a frame in memory': demo('option-h', METRIC, '1 frame held between rounds'),
  'the invariant test': textIn('tests/matrix/claims.test-support.ts', / it\('the invariant test: /),
  'the footgun test': textIn('tests/matrix/matrix.test.ts', /^test\('the footgun test: /m),
  'the quadrant': textIn('docs/matrix.md', /^## The quadrant: .+\n\n<!-- begin: quadrant -->\n\n\|.+\|$/m),
  'trade-offs': textIn(
    'demos/README.md',
    /^## Trade-offs\n\n\* \*\*The footgun\*\*: .+[\s\S]+a \*hidden re-entry\*/m,
  ),
  'the words, for a reader': textIn('README.md', /\*footgun\*[\s\S]+\*hidden re-entry\*[\s\S]+quadrant/),
  footgun: meaningOf('footgun'),
  'hidden re-entry': meaningOf('hidden re-entry'),
  'an invariant': meaningOf('invariant test'),
  'a quadrant': meaningOf('quadrant'),
  Resolve: demo('option-i', METRIC),
  'a resolver, and its unwrapped value': {
    here: 'resolve(…, { units })',
    runs: async () => expect(await call({ units })).toHaveProperty('fails'),
  },
  'ElicitationResult, the union': {
    here: 'outcome(units)',
    runs: async () =>
      expect(await call({ units: outcome(units) })).toEqual({ says: '{"units":{"kind":"declined"}}' }),
  },
  'the graph, where a cycle is an InvalidSignature': {
    here: 'buildResolverPlans',
    runs: () => {
      const needs: Record<string, Resolver<string>> = {};
      needs.cyclic = resolver('cyclic', needs, () => 'never');
      expect(() => resolve(Args, needs, () => textResult('never'))).toThrow(InvalidSignature);
    },
  },
  'the memo, by function identity': {
    here: 'resolveArguments',
    runs: async () => {
      const shared = resolver(
        'shared',
        {},
        countRuns((runs) => runs),
      );
      const other = resolver('other', { shared }, (by) => by.shared);
      expect(await call({ shared, other })).toEqual({ says: '{"shared":1,"other":1}' });
    },
  },
  'the engine: find_resolved_parameters': {
    here: 'findResolvedParameters',
    runs: () => {
      const found = findResolvedParameters({ plain: units, union: outcome(units) });
      expect(found.map(({ wantsOutcome }) => wantsOutcome)).toEqual([false, true]);
    },
  },
  'the engine: build_resolver_plans': {
    here: 'buildResolverPlans',
    runs: () => {
      const label = resolver('label', { units }, () => 'label');
      const plans = buildResolverPlans(findResolvedParameters({ label }), new Set());
      expect([...plans.keys()]).toEqual([units, label]);
    },
  },
  'the engine: resolve_arguments': {
    here: 'resolveArguments',
    runs: async () => {
      const resolved = findResolvedParameters({ units });
      const plans = buildResolverPlans(resolved, new Set(['n']));
      const callback = shapeCallback('own', async (args: Args, ctx) => {
        const round = { context: handlerContext(ctx), recall: new Recall(ctx, 'own/1') };
        const filled = await resolveArguments(resolved, plans, { ...args }, round);
        return 'open' in filled ? round.recall.ask(filled.open) : textResult(JSON.stringify(filled.values));
      });
      const client = await new TestDeployment(tool(callback as never)).connect(() => metric);
      expect(await client.call()).toEqual({ says: '{"units":{"units":"metric"}}' });
    },
  },
};

test('none of what the project began with is lost', () => {
  expect(Object.keys(SYSTEMS)).toHaveLength(39);
});

const rows = Object.entries(SYSTEMS).map(([name, { here, runs }]) => [name, here, runs] as const);

test.each(rows)('%s runs here as %s', async (_name, _here, runs) => {
  await runs();
});
