/** The checks of a deploy, on the bare server, on servers that cannot be judged, and on our shapes. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { run } from '@mrtr/check';
import type { Change } from '@mrtr/comparison/claims';
import { findOption, type ListedOption, type LoadedOption, loadOption } from '@mrtr/comparison/options';
import { claimOf, MOMENTS } from '@mrtr/matrix/deploy';
import { describe, expect, test } from 'vitest';
import { runChecks } from '../../packages/check/src/run/run.ts';
import { bareInputs, checkBare, findings, inWorld, verdicts, whyUndecided } from './bare.test-support.ts';
import { checkDeploy } from './deploy.test-support.ts';
import { type Answers, cached, DISCOVERED, resultText, serving } from './posted.test-support.ts';

const only = ['deploy'];

describe.concurrent('the bare server without a fault', () => {
  test.each(['http', 'stdio'] as const)('passes where a question is reworded, over %s', async (transport) => {
    const one = await checkBare({ only, transport, next: ['--change', 'reworded'] });
    expect(findings(one)).toEqual({});
    expect(verdicts(one, 'not-applicable')).toEqual({ 'deploy.unfit': 'not-applicable' });
  });

  test('passes where an answer is no longer allowed', async () => {
    const one = await checkBare({ only, transport: 'stdio', next: ['--change', 'narrowed'] });
    expect(findings(one)).toEqual({});
    expect(verdicts(one, 'not-applicable')).toEqual({ 'deploy.reworded': 'not-applicable' });
  });
});

describe.concurrent('a fault', () => {
  test.each(['http', 'stdio'] as const)('that ends the process is a fail, over %s', async (transport) => {
    const args = ['--breaks', 'process'];
    const parts = { fault: 'deploy.says-why', only: ['deploy.says-why'], transport, args };
    expect(findings(await checkBare({ ...parts, next: [] }))).toEqual({ 'deploy.says-why': 'fail' });
  });

  test.each([
    ['status', 'http', /HTTP 500/],
    ['leak', 'stdio', /an isError result: "Cannot read properties of undefined/],
  ] as const)('that answers by accident is a warn: %s', async (breaks, transport, words) => {
    const parts = { fault: 'deploy.says-why', only: ['deploy.says-why'], transport };
    const one = await checkBare({ ...parts, args: ['--breaks', breaks], next: [] });
    expect(findings(one)).toEqual({ 'deploy.says-why': 'warn' });
    expect(one.checks[0]?.actual).toMatch(words);
  });

  test.each([
    ['refusal', /the call came to error -32602: .*, and the probe changed all the same/],
    ['nothing', /the call ended like an honest one, and had no effect/],
    ['question', /account was asked again, and the probe changed before that was answered/],
  ])('with an effect in the wrong place is found: %s', async (breaks, words) => {
    const parts = { fault: 'deploy.effect-once', only: ['deploy.effect-once'], transport: 'stdio' } as const;
    const one = await checkBare({ ...parts, args: ['--breaks', breaks], next: [] });
    expect(findings(one)).toEqual({ 'deploy.effect-once': 'fail' });
    expect(one.checks[0]?.actual).toMatch(words);
  });

  test('without a declaration is advice', async () => {
    const parts = { fault: 'deploy.replay', only: ['deploy.replay'], transport: 'stdio' } as const;
    const one = await checkBare({ ...parts, next: [], inputs: { oneTime: false } });
    expect(findings(one)).toEqual({ 'deploy.replay': 'advice' });
  });
});

test.concurrent('if an honest call on the new version fails, only the checks of the old version decide', async () => {
  const next = ['--calls-until-broken', '0'];
  const one = await checkBare({ only: ['deploy', 'answer.unasked'], transport: 'stdio', next });
  const undecided = one.checks.filter(({ verdict }) => verdict === 'could-not-run');
  expect(undecided).toHaveLength(7);
  expect(undecided[0]?.actual).toMatch(/^an honest call on the new version failed: .*Out of order/);
  expect(verdicts(one, 'pass')).toEqual({ 'answer.unasked': 'pass' });
});

test.concurrent('the new version is gone when the run is over', async () => {
  const options = { fault: 'deploy.survives', only: ['deploy.survives'], next: [] };
  const { checked } = await inWorld((world) => runChecks(bareInputs(world, options)));
  const port = checked[0]?.finding.session?.turn?.url?.port;
  const socket = connect(Number(port), '127.0.0.1');
  await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED');
});

const listing = (tools: readonly object[]): Answers => {
  const results: Readonly<Record<string, object>> = {
    'server/discover': DISCOVERED,
    'tools/list': cached({ tools }),
    'tools/call': { resultType: 'input_required', inputRequests: {}, requestState: 'state' },
  };
  const done = { resultType: 'complete', content: [] };
  return ({ id, method, params }) => resultText(id, params?.requestState ? done : results[method]);
};

const LOOK = { kind: 'tool', name: 'look', arguments: {} } as const;
const between = (before: readonly object[], after: readonly object[]) =>
  serving(listing(before), (url) =>
    serving(listing(after), (next) => run({ operation: LOOK, only, answers: {}, address: { url, next } })),
  );

const LISTED = { name: 'look', inputSchema: { type: 'object' } };
const tool = (readOnlyHint: boolean) => ({ ...LISTED, annotations: { readOnlyHint } });

test.concurrent('a read-only tool that writes in the new version is not called without --allow-effects', async () => {
  await expect(between([tool(true)], [tool(false)])).rejects.toThrow(
    /The tool look of the new version is not declared read-only .* add --allow-effects/s,
  );
});

test.concurrent('a tool that the new version removed decides nothing, and says so', async () => {
  const one = await between([tool(true)], []);
  expect(new Set(one.checks.map(({ verdict }) => verdict))).toEqual(new Set(['could-not-run']));
  expect(one.checks[0]?.actual).toMatch(/the new version has no tool look/);
});

test.concurrent('a deploy of a tool without effects needs no probe', async () => {
  const one = await between([tool(true)], [tool(true)]);
  const passed = Object.keys(verdicts(one, 'pass'));
  expect(passed).toEqual(['deploy.survives', 'deploy.returns', 'deploy.says-why']);
});

function expected(option: LoadedOption, change: Change): Readonly<Record<string, string>> {
  const refuses = MOMENTS.some((moment) => claimOf({ option, change, moment }) === 'rejects');
  const shape = option.id;
  // The claim is about an answer that is no longer allowed. The honest answer here still is.
  const allowed = shape === 'e' && change === 'narrowed';
  return {
    // E keeps answers without the text of their questions (docs/deploying.md).
    ...(shape === 'e' && change === 'reworded' && { 'deploy.reworded': 'advice' }),
    ...(refuses && !allowed && { 'deploy.survives': 'advice' }),
  };
}

const TRIED: readonly (readonly [string, Change])[] = [
  ['e', 'reworded'],
  ['f', 'reworded'],
  ['g', 'reworded'],
  ['i', 'reworded'],
  ['j', 'reworded'],
  ['e', 'narrowed'],
  ['f', 'narrowed'],
  ['f', 'step-renamed'],
  ['g', 'step-removed'],
  ['j', 'step-added'],
  ['i', 'version'],
  ['h', 'nothing'],
];

describe.concurrent('our shapes', () => {
  test.each(TRIED)('%s does what it claims of a version: %s', async (shape, change) => {
    const one = await checkDeploy(shape, change);
    expect(whyUndecided(one)).toBe('');
    const { 'deploy.returns': _, ...forth } = findings(one);
    expect(forth).toEqual(expected(await loadOption(findOption(shape) as ListedOption), change));
  });

  test('F asks a reworded question again', async () => {
    const [survives] = (await checkDeploy('f', 'reworded', { only: ['deploy.survives'] })).checks;
    expect(survives?.actual).toMatch(/question 1 the call was asked size again, and finished/);
  });

  test('two versions with a key each reject the calls of each other, and the remedy says why', async () => {
    const one = await checkDeploy('g', 'nothing', { ownKeys: true, only: ['deploy.survives'] });
    expect(findings(one)).toEqual({ 'deploy.survives': 'advice' });
    expect(one.checks[0]?.remedy).toMatch(/Give both versions the same key/);
  });
});
