/** A bank of servers that no check was written for: each fault is found, and no right server has a finding. */
import type { Inputs } from '@mrtr/check';
import { expect, test } from 'vitest';
import { checkBank, hash, type Traits } from './bank.test-support.ts';
import { advice, type Found, fail, findings, warn, whyUndecided } from './bare.test-support.ts';

const FAMILIES = ['wire', 'state', 'retry', 'answer', 'refusal', 'consent', 'capability', 'effect'];
/** Seconds: longer than a whole call on a machine that is busy with other files. */
const TTL = 5;
/** Findings of the right server too: its state is signed, and not sealed. */
const READABLE: Found = { 'state.readable': 'advice' };

type Row = readonly [what: string, traits: Traits, found: Found, inputs?: Partial<Inputs>];

const WRONG: readonly Row[] = [
  [
    'a signature of which eight characters are compared',
    { compared: 8 },
    advice('state.aliased', 'state.malformed', 'state.tampered'),
  ],
  ['a signature that may be empty', { trusts: (signature) => signature === '' }, fail('state.forged')],
  [
    'a principal that is compared where there is one',
    { isSame: (who, own) => who === 'nobody' || who === own },
    { 'state.other-principal': 'warn' },
  ],
  [
    'state that is bound to its arguments alone',
    { call: (_, args) => hash(args) },
    { 'state.other-tool': 'warn' },
  ],
  [
    'state that is bound to its tool alone',
    { call: (tool) => hash(tool) },
    { 'state.other-arguments': 'warn' },
  ],
  [
    'state that is bound to the invoice, and not to the amount',
    { call: (tool, { invoice }) => hash(tool, invoice) },
    { 'state.other-arguments': 'warn' },
    { operation: { kind: 'tool', name: 'pay', arguments: { invoice: 'a-1', amount: 5 } } },
  ],
  [
    'an expiry that only the first round looks at',
    { lasts: (step) => step === 'confirm' },
    { 'state.expired': 'warn' },
    { ttlSeconds: TTL },
  ],
  ['a record of state and answers', { used: hash }, { 'retry.other-answers': 'fail' }],
  ['a record that keeps the last four calls', { keeps: 4 }, fail('retry.twice')],
  ['a record of each prompt', { used: (id, _, tries) => `${id} ${tries}` }, fail('retry.other-answers')],
  [
    'a cancel that is no refusal',
    { no: (given) => given?.action === 'decline', yes: () => true },
    {
      ...fail('refusal.no-effect', 'consent.false-in-form', 'consent.empty-form'),
      ...warn('answer.empty-accept', 'answer.invalid', 'answer.missing'),
      ...advice('refusal.cancel-ends'),
    },
  ],
  [
    'any choice but the refusal is a yes',
    { yes: (given) => given?.action === 'accept' && given.content?.value !== 'cancel' },
    { ...fail('consent.empty-form'), ...warn('answer.empty-accept', 'answer.invalid') },
  ],
  [
    'a memo that is left out',
    { memo: (given) => String(given?.content?.value ?? 'none') },
    warn('answer.empty-accept', 'answer.invalid', 'answer.missing', 'answer.refusal-with-content'),
  ],
  [
    'the first answer, whatever its key',
    { find: (_, all) => Object.values(all)[0] },
    warn('answer.other-key', 'answer.other-round'),
  ],
  [
    'a client that declared nothing is asked',
    { asksAnyone: true },
    fail('capability.mode', 'capability.undeclared'),
  ],
  [
    'a rejection that gives its reason',
    { rejects: (_call, reason) => ({ error: { code: -32602, message: reason } }) },
    { 'state.oracle': 'advice' },
  ],
];

for (const [what, traits, found, inputs] of WRONG)
  test.concurrent(what, async () => {
    const one = await checkBank(traits, FAMILIES, inputs);
    expect(findings(one), whyUndecided(one)).toEqual({ ...READABLE, ...found });
  });

const begins = (before: string): Traits => ({
  rejects: ({ tool, args, who }, _reason, bank) => bank.ask(args, bank.fresh(hash(tool, args), who), true),
  words: (message, again) => (again ? `${before}${message}` : message),
});
let number = 0;

const RIGHT: readonly Row[] = [
  ['nothing odd', {}, {}],
  ['it begins again, and names the invoice', begins(''), {}],
  ['it begins again, and says why', begins('That is over. '), {}],
  ['it begins again, and every question has the same key', { ...begins(''), key: () => 'answer' }, {}],
  ['every question has a new key', { key: (key) => `${key}-${number++}` }, {}],
  [
    'every question has a new key, and says that it comes again',
    {
      key: (key) => `${key}-${number++}`,
      words: (message, again) => (again ? `${message} Once more, please.` : message),
    },
    {},
  ],
  ['every question has a number', { words: (message) => `${message} (question ${number++})` }, {}],
  [
    'a rejection that names the tool and the invoice',
    {
      rejects: ({ tool, args }) => ({
        error: { code: -32602, message: `No call of ${tool} with ${args.invoice} is open.` },
      }),
    },
    {},
  ],
  [
    'a rejection with a number',
    { rejects: () => ({ error: { code: -32602, message: `Rejected (incident ${number++}).` } }) },
    {},
  ],
  ['a repeated retry that gets the first result', { repeats: 'first result' }, {}],
  ['nobody is served without credentials', { http: (who) => (who === 'nobody' ? 401 : undefined) }, {}],
  [
    'each second question is in another language',
    { words: (message) => (number++ % 2 ? message : `Bitte entscheiden: ${message}`) },
    {},
  ],
  ['it pays after the first question, and asks another', { payBeforeMemo: true }, {}],
];

for (const [what, traits, found] of RIGHT)
  test.concurrent(`right: ${what}`, async () => {
    const one = await checkBank(traits, FAMILIES, { ttlSeconds: TTL });
    expect(findings(one), whyUndecided(one)).toEqual({ ...READABLE, ...found });
  });
