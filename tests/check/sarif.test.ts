/** SARIF reports, validated by the published schema and read as a code-scanning page does. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import published from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import type { Report } from '@mrtr/check';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { inWorld } from './bare.test-support.ts';
import { ANSWERS, bareWith, mrtrCheck, TRANSFER } from './cli.test-support.ts';

// The validator refuses the `id` of the older draft. Nothing else differs.
const { id, $schema, ...schema } = published;
const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);

/** Runs the checker with `code` as the source that registers the tool. */
async function runSarif(code: string, fault: string, ...options: readonly string[]) {
  return inWorld(async (folder) => {
    const at = (name: string) => join(folder, name);
    await writeFile(at('server.py'), code);
    const reports = ['--source', folder, '--report', `sarif=${at('s')}`, '--report', `json=${at('j')}`];
    await bareWith([...TRANSFER, ...ANSWERS, ...reports, ...options], { fault });
    const log = JSON.parse(await readFile(at('s'), 'utf8'));
    expect(validate(log) || validate.errors).toBe(true);
    const report = JSON.parse(await readFile(at('j'), 'utf8')) as Report;
    const [{ results, tool }] = log.runs;
    return { results, rules: tool.driver.rules, report };
  });
}

const CODE = '@mcp.tool()\ndef transfer():\n  pass\n';

test('a page shows the rule, how grave it is, the place of the tool, and what to do', async () => {
  const { results, rules, report } = await runSarif(CODE, 'answer.invalid', '--only', 'answer.invalid');
  expect(rules).toHaveLength(64);
  expect(results).toHaveLength(1);
  const [{ ruleId, ruleIndex, level, message, locations }] = results;
  const found = report.checks.find(({ verdict }) => verdict === 'warn');
  expect([ruleId, rules[ruleIndex].id, level]).toEqual(['answer.invalid', 'answer.invalid', 'warning']);
  expect(message.text).toContain(`${found?.remedy}`);
  expect(rules[ruleIndex].shortDescription.text).toBe(found?.expected);
  expect(rules[ruleIndex].help.markdown).toContain(found?.clause.words);
  const { artifactLocation, region } = locations[0].physicalLocation;
  expect([artifactLocation.uri, region.startLine]).toEqual([expect.stringMatching(/server\.py$/), 2]);
});

test('a finding keeps its fingerprints when the code moves and the seed changes', async () => {
  const only = ['--only', 'wire.duplicate-keys'];
  const first = await runSarif(CODE, 'wire.duplicate-keys', ...only);
  const second = await runSarif(`\n\n${CODE}`, 'wire.duplicate-keys', ...only, '--seed', '7');
  const other = await runSarif(CODE, 'state.readable', '--only', 'state.readable');
  const prints = [first, second, other].map(({ results }) => results[0].partialFingerprints);
  expect(prints[0]).toHaveProperty('primaryLocationLineHash');
  expect(prints[1]).toEqual(prints[0]);
  expect(prints[2]).not.toEqual(prints[0]);
  expect(second.results[0].locations[0].physicalLocation.region.startLine).toBe(4);
  expect(first.results[0].level).toBe('error');
});

test('a check that could not run is a notification, not a result', async () => {
  await inWorld(async (folder) => {
    const options = ['--tool', 'a', '--only', 'wire.shape', '--report', `sarif=${join(folder, 's')}`];
    const { code } = await mrtrCheck(...options, 'http://127.0.0.1:1/mcp');
    const log = JSON.parse(await readFile(join(folder, 's'), 'utf8'));
    expect(validate(log) || validate.errors).toBe(true);
    const [{ results, invocations }] = log.runs;
    expect([code, results]).toEqual([3, []]);
    expect(invocations[0].executionSuccessful).toBe(false);
    expect(invocations[0].toolExecutionNotifications).toMatchObject([
      { associatedRule: { id: 'wire.shape' } },
    ]);
  });
});
