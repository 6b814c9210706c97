/**
 * Everything that this project began with runs here: `mrtr_options` and `resolve` of the Python SDK, by the names that
 * they have there. Add to the table; take nothing out of it.
 */
import { elicitation, speaksMrtr, textResult } from '@mrtr/core';
import { sameForTheHost } from '@mrtr/matrix';
import { awaitShim } from '@mrtr/shapes/await-shim';
import { byEra } from '@mrtr/shapes/by-era';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { once } from '@mrtr/shapes/once';
import { InvalidSignature, outcome, Resolver, resolve, resolver } from '@mrtr/shapes/resolve';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { expect, test } from 'vitest';
import { run } from '../../demos/cli/src/terminal.test-support.ts';
import {
  Args,
  countRuns,
  decline,
  Site,
  tool,
  Units,
} from '../../packages/shapes/src/fixture.test-support.ts';
import { findResolvedParameters, reachResolvers } from '../../packages/shapes/src/resolve/plan.ts';
import { resolveArguments } from '../../packages/shapes/src/resolve/resolve-arguments.ts';
import { textOf } from '../testkit/project-files.ts';

const METRIC = 'Weather in Tokyo: 22°C, partly cloudy.';

/** Runs a demo, which the help names, and finds these texts in its drawing. */
const demo =
  (line: string, ...texts: readonly string[]) =>
  async () => {
    const [{ out: help }, { code, out, err }] = await Promise.all([run('--help'), run(line)]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(help).toMatch(new RegExp(`^ {2}${line.split(' ')[0]}[| ]`, 'm'));
    for (const text of texts) expect(out).toContain(text);
  };

const functions =
  (...all: readonly unknown[]) =>
  () =>
    expect(all.map((one) => typeof one)).toEqual(all.map(() => 'function'));

const documents = (file: string, text: RegExp) => () => expect(textOf(file)).toMatch(text);

const units = resolver('units', {}, () => elicitation('Which units?', Units));

/** The end of a call whose user declines the question of `units`. */
const declining = async (params: Parameters<typeof resolve>[1]) => {
  const ending = tool(resolve(Args, params, (args) => textResult(JSON.stringify(args))));
  return (await new Site(ending).connect(() => decline)).call();
};

const SYSTEMS: readonly [name: string, here: string, runs: () => unknown][] = [
  ['basic.py', 'pnpm demo basic', demo('basic', '2 rounds', 'Deployed to production.')],
  [
    'basic_multiround.py',
    'pnpm demo basic-multiround',
    demo('basic-multiround --hosting fleet', '3 rounds', '#4522 resolved as Duplicate of #4301.'),
  ],
  ['E, the default', 'pnpm demo option-e', demo('option-e', METRIC)],
  ['A, MRTR-native only', 'pnpm demo option-a', demo('option-a', METRIC)],
  [
    'sse_retry_shim',
    'pnpm demo option-a, old',
    demo('option-a --client legacy', METRIC, 'a stream held open'),
  ],
  ['B, await elicit()', '@mrtr/shapes/await-shim', functions(awaitShim)],
  ['the audit_log landmine of B', 'pnpm demo option-b', demo('option-b', 'audit written 2×')],
  ['C, one handler with a version branch', 'pnpm demo option-c', demo('option-c', METRIC)],
  ['C, its old-client arm', 'pnpm demo option-c, old', demo('option-c --client legacy', METRIC, 'held open')],
  ['the version accessor', '@mrtr/core: speaksMrtr', functions(speaksMrtr)],
  ['D, two handlers', '@mrtr/shapes/by-era', functions(byEra)],
  ['D, run by version', 'pnpm demo option-d', demo('option-d', METRIC)],
  ['F', 'pnpm demo option-f', demo('option-f', METRIC, 'audit written 1×')],
  ['MrtrCtx.once', '@mrtr/shapes/once', functions(once)],
  ['G', 'pnpm demo option-g', demo('option-g', METRIC, 'audit written 1×')],
  [
    'ToolBuilder',
    '@mrtr/shapes/tool-builder',
    functions(ToolBuilder, new ToolBuilder().endStep(() => textResult('')).build),
  ],
  ['incomplete_step', 'ToolBuilder.incompleteStep', functions(ToolBuilder.prototype.incompleteStep)],
  ['end_step', 'ToolBuilder.endStep', functions(ToolBuilder.prototype.endStep)],
  ['H, linear continuation', '@mrtr/shapes/linear', functions(linear)],
  ['its store of frames', 'ContinuationStore', functions(ContinuationStore)],
  ['the coroutine frame', 'pnpm demo option-h', demo('option-h', METRIC, '1 frame held between rounds')],
  [
    'the invariant test',
    'tests/matrix/claims.test-support.ts',
    () => {
      functions(sameForTheHost)();
      documents('tests/matrix/claims.test-support.ts', / it\('the invariant test: /)();
    },
  ],
  [
    'the footgun test',
    'tests/matrix/matrix.test.ts',
    documents('tests/matrix/matrix.test.ts', /^test\('the footgun test: /m),
  ],
  [
    'the quadrant',
    'docs/matrix.md',
    documents('docs/matrix.md', /^## The quadrant: .+\n\n<!-- begin: quadrant -->\n\n\|.+\|$/m),
  ],
  ['trade-offs', 'docs/choosing.md', documents('docs/choosing.md', /^## Trade-offs$/m)],
  ['footgun prevention', 'docs/choosing.md', documents('docs/choosing.md', /\*\*The footgun\*\*/)],
  ['hidden re-entry', 'docs/choosing.md', documents('docs/choosing.md', /a \*hidden re-entry\*/)],
  [
    'the words for a reader',
    'README.md',
    documents('README.md', /\*footgun\*[\s\S]+\*hidden re-entry\*[\s\S]+quadrant/),
  ],
  [
    'their meaning',
    'docs/glossary.md',
    () => {
      for (const word of ['footgun', 'hidden re-entry', 'invariant test', 'quadrant'])
        documents('docs/glossary.md', new RegExp(`^\\* \\*\\*${word}\\*\\*: `, 'm'))();
    },
  ],
  ['Resolve', 'pnpm demo option-i', demo('option-i', METRIC)],
  ['Elicit', '@mrtr/shapes/resolve: resolver', functions(resolver, Resolver, resolve)],
  [
    'the unwrapped value: a decline aborts the call',
    'resolve(…, { units })',
    async () => expect(await declining({ units })).toHaveProperty('fails'),
  ],
  [
    'ElicitationResult, the union',
    'outcome(units)',
    async () =>
      expect(await declining({ units: outcome(units) })).toEqual({ says: '{"units":{"kind":"declined"}}' }),
  ],
  [
    'the graph: a cycle is an InvalidSignature',
    'reachResolvers',
    () => {
      const needs: Record<string, Resolver<string>> = {};
      needs.cyclic = resolver('cyclic', needs, () => 'never');
      expect(() => resolve(Args, needs, () => textResult('never'))).toThrow(InvalidSignature);
    },
  ],
  [
    'the memo: a resolver runs at most once in a call of a tool',
    'resolveArguments',
    async () => {
      const counted = countRuns((run) => run);
      const shared = resolver('shared', {}, counted);
      const [one, other] = ['one', 'other'].map((name) => resolver(name, { shared }, (by) => by.shared));
      const body = tool(
        resolve(Args, { one, other, shared } as never, (args) => textResult(JSON.stringify(args))),
      );
      expect(await (await new Site(body).connect()).call()).toEqual({
        says: '{"one":1,"other":1,"shared":1}',
      });
      expect(counted.runs).toBe(1);
    },
  ],
  [
    'find_resolved_parameters',
    'findResolvedParameters',
    () =>
      expect(findResolvedParameters({ plain: units, union: outcome(units) })).toEqual([
        { name: 'plain', resolver: units, wantsOutcome: false },
        { name: 'union', resolver: units, wantsOutcome: true },
      ]),
  ],
  [
    'build_resolver_plans',
    'reachResolvers',
    () => {
      const label = resolver('label', { units }, () => 'label');
      expect(reachResolvers(findResolvedParameters({ label }), new Set())).toEqual([units, label]);
    },
  ],
  ['resolve_arguments', 'resolveArguments', functions(resolveArguments)],
];

test('none of what the project began with is lost', () => {
  expect(new Set(SYSTEMS.map(([name]) => name)).size).toBe(38);
});

test.each(SYSTEMS)('%s runs here as %s', async (_name, _here, runs) => {
  await runs();
});
