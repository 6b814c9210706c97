/** Wrong options of this package, as JavaScript code may pass them. */
import { InvalidOption, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { Args } from './fixture.test-support.ts';
import { journal } from './journal/journal.ts';
import { ContinuationStore, linear } from './linear/index.ts';
import { once } from './once/once.ts';
import { resolve, resolveResource } from './resolve/resolve.ts';
import { ToolBuilder } from './tool-builder/tool-builder.ts';

const handler = () => textResult('');
const store = new ContinuationStore();
const someKinds = "must be a list of 'elicitation', 'elicitation.url', 'sampling', 'sampling.tools', 'roots'";
const aStore = 'store must be an object with runRound()';

test.each<[options: unknown, message: string]>([
  [null, 'the options must be an object; they are null.'],
  [{ limit: {} }, "there is no option 'limit'. Did you mean 'limits'?"],
  [{ maxFrames: 5 }, "the option 'maxFrames' is gone. Write `limits: { frames }`."],
  [
    { maxAbandoned: 5 },
    "the option 'maxAbandoned' is gone. As many as `limits: { frames }` are counted, and at most 1000.",
  ],
  [{ ttlSeconds: '60' }, "ttlSeconds must be a whole number of at least 1; it is '60'."],
  [{ onerror: true }, 'onerror must be a function; it is true.'],
  [{ locate: 'i1' }, 'locate must be a function; it is a text.'],
])('new ContinuationStore(%j) is rejected: %s', (options, message) => {
  const rejected = new InvalidOption(`ContinuationStore: ${message}`);
  expect(() => new ContinuationStore(options as object)).toThrow(rejected);
});

test.each<[what: string, give: () => unknown, message: string]>([
  ['linear', () => linear(handler, {} as never), `linear: ${aStore}; it is undefined.`],
  [
    'linear',
    () => linear(handler, { store, ttlSeconds: 5 } as never),
    "linear: there is no option 'ttlSeconds'. The options are: asks, store.",
  ],
  [
    'journal',
    () => journal(handler, { strcit: true } as object),
    "journal: there is no option 'strcit'. Did you mean 'strict'?",
  ],
  ['once', () => once(handler, { asks: ['form'] } as never), `once: asks ${someKinds}; it is a list.`],
  [
    'incompleteStep',
    () => new ToolBuilder().incompleteStep('a', () => 1, { shema: {} } as object),
    "incompleteStep: there is no option 'shema'. Did you mean 'schema'?",
  ],
])('%s rejects a wrong option where the tool is built', (_what, give, message) => {
  expect(give).toThrow(new InvalidOption(message));
});

const SECRET = 'redis://user:hunter2@redis.example';
test.each<[what: string, needs: string, give: (wrong: never) => unknown]>([
  ['linear', 'handler must be a function', (wrong) => linear(wrong, { store })],
  ['journal', 'handler must be a function', (wrong) => journal(wrong)],
  ['once', 'handler must be a function', (wrong) => once(wrong)],
  [
    'resolve',
    'inputSchema must be a Standard Schema that has a JSON Schema',
    (wrong) => resolve(wrong, {}, handler),
  ],
  [
    'resolve',
    'params must be an object with a resolver for each parameter',
    (wrong) => resolve(Args, wrong, handler),
  ],
  ['resolve', 'body must be a function', (wrong) => resolve(Args, {}, wrong)],
  [
    'resolveResource',
    'params must be an object with a resolver for each parameter',
    (wrong) => resolveResource(wrong, handler),
  ],
  ['resolveResource', 'body must be a function', (wrong) => resolveResource({}, wrong)],
])('%s: an argument of the wrong kind is rejected where it is given: %s', (what, needs, give) => {
  const kinds: readonly (readonly [unknown, string])[] = [
    [null, 'null'],
    [SECRET, 'a text'],
    [[], 'a list'],
  ];
  for (const [wrong, kind] of kinds)
    expect(() => give(wrong as never)).toThrow(new InvalidOption(`${what}: ${needs}; it is ${kind}.`));
});
