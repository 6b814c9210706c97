/** Our own examples pass our own checker with `--needs-consent`: a question shows the arguments, and nothing else of them. */
import { run } from '@mrtr/check';
import { expect, onTestFinished, test } from 'vitest';
import { open } from '../../demos/recipes/hosted.ts';
import { projectFiles, textOf } from '../testkit/project-files.ts';
import { findings, verdicts } from './bare.test-support.ts';

const stdio = (file: string) => async () => ({ command: [process.execPath, '--import', 'tsx', file] });

async function recipe() {
  const hosting = await open(0);
  onTestFinished(() => hosting.close());
  return { url: hosting.url.href };
}

const WORDS = ['consent.blind', 'consent.spoofed'];

test.each([
  ['the first tool', stdio('demos/first-tool/server.ts'), 'deploy', { env: 'staging' }, WORDS],
  ['the migrated tool', stdio('demos/migrating/server.ts'), 'book', { date: '2026-12-24' }, WORDS],
  // Its argument is a choice, so nothing can be put into it.
  ['the recipes', recipe, 'deploy', { env: 'staging' }, ['consent.blind']],
] as const)('%s has no finding of consent', async (_what, addressOf, name, given, passes) => {
  process.env.STATE_KEY = 'a key of at least thirty-two bytes';
  onTestFinished(() => void delete process.env.STATE_KEY);
  const ran = await run({
    address: await addressOf(),
    operation: { kind: 'tool', name, arguments: given },
    generateAnswers: true,
    needsConsent: true,
    allowEffects: true,
    only: ['consent'],
  });
  expect(findings(ran)).toEqual({});
  expect(Object.keys(verdicts(ran, 'pass'))).toEqual(passes);
});

/** The files that people copy from, and the examples of docstrings. */
const EXAMPLES =
  /^(demos|docs|packages\/(options|shapes|core|linear-dbos)|README\.md)\b.*(\.md|(?<!test|test-support)\.ts)$/;
/** A question with a value in its text. A number, as in `#${id}`, is what it seems. */
const RAW = /\b(elicitation|elicit)(<[^>]*>)?\(\s*`[^`]*\$\{(?!id\})[^`]*`/g;
const WORDED = /\b(elicitation|elicit)(<[^>]*>)?\(\s*words`[^`]*\$\{/g;

test('no example puts a text of a caller into a question without `words`', () => {
  const files = projectFiles().filter((file) => EXAMPLES.test(file));
  const found = (pattern: RegExp) => files.flatMap((file) => textOf(file).match(pattern) ?? []);
  expect(found(RAW)).toEqual([]);
  expect(found(WORDED).length).toBeGreaterThan(9);
});
