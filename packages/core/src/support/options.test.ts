/** Wrong options of this package, as JavaScript or an unset environment variable gives them. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { MemoryLedger } from '../admission/ledger.ts';
import { partsOf, requestStatePolicy } from '../admission/policy.ts';
import { protectedServer } from '../admission/server.ts';
import { elicitation } from '../questions/elicitation.ts';
import { listRoots, sampling } from '../questions/model-and-roots.ts';
import { urlElicitation } from '../questions/url-elicitation.ts';
import { InvalidOption } from './errors.ts';

/** The message of the `InvalidOption` that `give` throws. */
function complaintOf(give: () => unknown): string {
  try {
    give();
  } catch (error) {
    if (error instanceof InvalidOption) return error.message;
    throw error;
  }
  return 'none';
}

const KEYS = ['a secret of more than thirty-two bytes'];
const server = { name: 'shop', version: '1' };
const form = z.object({ yes: z.boolean() });
const params = { messages: [], maxTokens: 1 };
const limit = 'a whole number from 1 to 9007199254740991';

/** A wrong policy, and its message after the owner. */
const POLICIES: readonly (readonly [options: unknown, message: string])[] = [
  [null, 'the options must be an object; they are null.'],
  ['KEY', 'the options must be an object; they are a text.'],
  [[], 'the options must be an object; they are a list.'],
  [{ key: KEYS }, "there is no option 'key'. Did you mean 'keys'?"],
  [{ singleuse: 'reject' }, "there is no option 'singleuse'. Did you mean 'singleUse'?"],
  [{ ttl: 60 }, "there is no option 'ttl'. Did you mean 'ttlSeconds'?"],
  [
    { secret: KEYS[0] },
    "there is no option 'secret'. The options are: keys, keysSeconds, ttlSeconds, maxBytes, maxRounds, maxQuestions, " +
      'maxAnswerBytes, audience, principal, legacy, now, singleUse, ledger, leaseSeconds, ledgerTimeoutSeconds, ' +
      'maxResultBytes, maxCalls, maxCallsPerPrincipal, maxAbandoned, maxAbandonedPerPrincipal, onerror, unaskedAnswers, version, acceptVersions.',
  ],
  [{ ttlSeconds: '60' }, "ttlSeconds must be a whole number from 1 to 16777215; it is '60'."],
  ...[0, 2 ** 24, 0.5, Number.NaN].map(
    (ttlSeconds) =>
      [{ ttlSeconds }, `ttlSeconds must be a whole number from 1 to 16777215; it is ${ttlSeconds}.`] as const,
  ),
  [{ maxBytes: Number.POSITIVE_INFINITY }, `maxBytes must be ${limit}; it is Infinity.`],
  [{ maxBytes: 0 }, `maxBytes must be ${limit}; it is 0.`],
  [{ maxBytes: null }, `maxBytes must be ${limit}; it is null.`],
  [{ maxRounds: 255 }, 'maxRounds must be a whole number from 1 to 254; it is 255.'],
  [{ maxQuestions: 0 }, 'maxQuestions must be a whole number from 1 to 255; it is 0.'],
  [{ maxQuestions: 256 }, 'maxQuestions must be a whole number from 1 to 255; it is 256.'],
  [{ maxAnswerBytes: -1 }, `maxAnswerBytes must be ${limit}; it is -1.`],
  [{ audience: 5 }, 'audience must be a text that is not empty; it is 5.'],
  [{ audience: '' }, "audience must be a text that is not empty; it is ''."],
  [{ principal: 'alice' }, 'principal must be a function; it is a text.'],
  [{ legacy: 'degraded' }, "legacy must be 'shim' or 'degrade'; it is 'degraded'."],
  [{ now: 5 }, 'now must be a function; it is 5.'],
  [{ singleUse: 'rejct' }, "singleUse must be 'reject', 'replay' or false; it is 'rejct'."],
  [{ singleUse: true }, "singleUse must be 'reject', 'replay' or false; it is true."],
  [{ ledger: null }, 'ledger must be an object with lease(), settle() and release(); it is null.'],
  [
    { ledger: { lease() {}, settle() {} } },
    'ledger must be an object with lease(), settle() and release(); it is an object.',
  ],
  [{ leaseSeconds: 0, singleUse: false }, 'leaseSeconds must be a whole number from 1 to 16777215; it is 0.'],
  [{ ledgerTimeoutSeconds: 3601 }, 'ledgerTimeoutSeconds must be a whole number from 1 to 3600; it is 3601.'],
  [{ maxResultBytes: 0.5 }, `maxResultBytes must be ${limit}; it is 0.5.`],
  [{ maxCalls: Number.NaN }, `maxCalls must be ${limit}; it is NaN.`],
  [{ maxCallsPerPrincipal: [] }, `maxCallsPerPrincipal must be ${limit}; it is a list.`],
  [{ onerror: true }, 'onerror must be a function; it is true.'],
  [
    { unaskedAnswers: 'acept' },
    "unaskedAnswers must be 'drop', 'accept' or { accept: [names of targets] }; it is 'acept'.",
  ],
  ...[{ accept: 'tool' }, { accept: [5] }, { acept: ['tool'] }, { accept: [], drop: [] }].map(
    (unaskedAnswers) =>
      [
        { unaskedAnswers },
        "unaskedAnswers must be 'drop', 'accept' or { accept: [names of targets] }; it is an object.",
      ] as const,
  ),
  [
    { version: undefined },
    'version must be a text, or one text for each target; it is undefined. Set its environment variable, or leave ' +
      'the option out.',
  ],
  [{ version: 5 }, 'version must be a text, or one text for each target; it is 5.'],
  [{ version: null }, 'version must be a text, or one text for each target; it is null.'],
  [{ version: ['1'] }, 'version must be a text, or one text for each target; it is a list.'],
  [
    { acceptVersions: '1' },
    'acceptVersions must be a list of versions (null for state without one); it is a text.',
  ],
  [
    { acceptVersions: [1] },
    'acceptVersions must be a list of versions (null for state without one); it is a list.',
  ],
];

test.each(POLICIES)('requestStatePolicy(%j) is refused: %s', (options, message) => {
  expect(complaintOf(() => requestStatePolicy(options as object))).toBe(`requestStatePolicy: ${message}`);
});

test.each<[unknown, string]>([
  ['a secret that nobody must read in a log', '`keys` must be a list of secrets: write keys: [secret].'],
  [null, '`keys` must be a list of secrets: write keys: [secret].'],
  [[], '`keys` is empty. Give at least one secret of 32 bytes, or leave `keys` out.'],
  [[undefined], 'keys[0] is undefined (is its environment variable set?).'],
  [[5], 'keys[0] is of type number.'],
  [['too short'], 'keys[0] has 9 bytes.'],
])('keys of %j are refused, and the message shows no secret', (keys, message) => {
  const complaint = complaintOf(() => requestStatePolicy({ keys } as object));
  expect(complaint).toContain(message);
  expect(complaint).not.toMatch(/nobody|too short/);
});

test.each<[what: string, give: () => unknown, message: string]>([
  [
    'MemoryLedger',
    () => new MemoryLedger({ whenFull: 'forgets' } as object),
    "MemoryLedger: whenFull must be 'refuse' or 'forget'; it is 'forgets'.",
  ],
  [
    'MemoryLedger',
    () => new MemoryLedger({ maxBytes: 0 }),
    'MemoryLedger: maxBytes must be a whole number of at least 1; it is 0.',
  ],
  [
    'protectedServer',
    () => protectedServer({ name: '', version: '1' }, requestStatePolicy()),
    "protectedServer: name must be a text that is not empty; it is ''.",
  ],
  [
    'protectedServer',
    () => protectedServer({ version: '1' } as typeof server, requestStatePolicy()),
    'protectedServer: name must be a text that is not empty; it is undefined.',
  ],
  [
    'protectedServer',
    () => protectedServer(server, { keys: KEYS } as never),
    'protectedServer: policy must be made by requestStatePolicy; it is an object.',
  ],
  [
    'elicitation',
    () => elicitation('Sure?', form, { default: { yes: true } } as object),
    "elicitation: there is no option 'default'. The options are: fallback.",
  ],
  [
    'urlElicitation',
    () => urlElicitation('Read this.', 'https://shop.example', { fallbak: true } as object),
    "urlElicitation: there is no option 'fallbak'. Did you mean 'fallback'?",
  ],
  [
    'sampling',
    () => sampling(params, { tools: [] } as object),
    "sampling/createMessage: there is no option 'tools'. The options are: fallback.",
  ],
  [
    'listRoots',
    () => listRoots({ fall: [] } as object),
    "roots/list: there is no option 'fall'. Did you mean 'fallback'?",
  ],
])('%s refuses a wrong option', (_what, give, message) => {
  expect(complaintOf(give)).toBe(message);
});

test('a text in the wrong place is repeated only where it is short, and a number or a choice is expected', () => {
  const secret = 'sk-0123456789';
  for (const name of ['principal', 'ledger', 'onerror', 'now', 'version2', 'acceptVersions']) {
    expect(complaintOf(() => requestStatePolicy({ [name]: secret }))).not.toContain(secret);
  }
  for (const name of ['legacy', 'singleUse', 'maxRounds', 'unaskedAnswers']) {
    const complaint = (length: number) =>
      complaintOf(() => requestStatePolicy({ [name]: 'x'.repeat(length) } as object));
    expect(complaint(12)).toContain(`it is '${'x'.repeat(12)}'.`);
    expect(complaint(13)).toContain('it is a text.');
  }
});

test('options other than `version` may be undefined, and then have their defaults', () => {
  const options = {
    keys: undefined,
    ledger: undefined,
    audience: undefined,
    principal: undefined,
    singleUse: undefined,
    legacy: undefined,
    now: undefined,
    onerror: undefined,
    ttlSeconds: undefined,
    unaskedAnswers: undefined,
    acceptVersions: undefined,
  };
  expect(partsOf(requestStatePolicy(options))).toMatchObject({
    ttlSeconds: 600,
    legacy: 'shim',
    unaskedAnswers: 'drop',
  });
  expect(new MemoryLedger({ now: undefined, whenFull: undefined } as object).size).toBe(0);
});

test('unknown options of the SDK reach the SDK', () => {
  const extra = { instructions: 'Ask.', somethingNew: true } as object;
  expect(() => protectedServer(server, requestStatePolicy(), extra)).not.toThrow();
});
