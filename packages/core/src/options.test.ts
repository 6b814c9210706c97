/** Wrong options of this package, as JavaScript or an unset environment variable gives them. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { MemoryLedger } from './admission/ledger.ts';
import { requestStatePolicy } from './admission/policy.ts';
import { protectedServer } from './admission/protected-server.ts';
import { InvalidOption } from './errors.ts';
import { limitsOf, ownLimit, requireOptions, wholeNumber } from './options.ts';
import { elicitation } from './questions/elicitation.ts';

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
const DEFAULT_LIMITS = { calls: 10, rounds: 10, perPrincipal: 1 / 16 };
const server = { name: 'shop', version: '1' };
const form = z.object({ yes: z.boolean() });

/** A wrong policy, and its message after the owner. */
const POLICIES: readonly (readonly [options: unknown, message: string])[] = [
  [null, 'the options must be an object; they are null.'],
  [[], 'the options must be an object; they are a list.'],
  [{ key: KEYS }, "there is no option 'key'. Did you mean 'keys'?"],
  [{ ttl: 60 }, "there is no option 'ttl'. Did you mean 'ttlSeconds'?"],
  [
    { secret: KEYS[0] },
    "there is no option 'secret'. The options are: keys, keysSeconds, ttlSeconds, limits, audience, principal, " +
      'legacy, hideUnaskable, now, singleUse, ledger, leaseSeconds, onerror, unaskedAnswers, version, acceptVersions.',
  ],
  [{ maxCalls: 5 }, "the option 'maxCalls' is gone. Write `limits: { requests }`."],
  [{ maxQuestions: 5 }, "the option 'maxQuestions' is gone. A round asks at most 32 questions."],
  [{ ttlSeconds: '60' }, "ttlSeconds must be a whole number from 1 to 16777215; it is '60'."],
  ...[0, 2 ** 24, 0.5, Number.NaN].map(
    (ttlSeconds) =>
      [{ ttlSeconds }, `ttlSeconds must be a whole number from 1 to 16777215; it is ${ttlSeconds}.`] as const,
  ),
  [{ audience: '' }, "audience must be a text that is not empty; it is ''."],
  [{ principal: 'alice' }, 'principal must be a function; it is a text.'],
  [{ legacy: 'degraded' }, "legacy must be 'shim' or 'degrade'; it is 'degraded'."],
  [{ singleUse: 'rejct' }, "singleUse must be 'reject', 'replay' or false; it is 'rejct'."],
  [
    { ledger: { lease() {}, settle() {} } },
    'ledger must be an object with lease(), settle() and release(); it is an object.',
  ],
  [{ unaskedAnswers: 'accept' }, 'unaskedAnswers must be a list of names of targets; it is a text.'],
  ...[{ accept: ['tool'] }, [5]].map(
    (unaskedAnswers) =>
      [
        { unaskedAnswers },
        `unaskedAnswers must be a list of names of targets; it is ${Array.isArray(unaskedAnswers) ? 'a list' : 'an object'}.`,
      ] as const,
  ),
  [
    { version: undefined },
    'version must be a text, or one text for each target; it is undefined. Set its environment variable, or leave ' +
      'the option out.',
  ],
  [{ version: ['1'] }, 'version must be a text, or one text for each target; it is a list.'],
  [
    { acceptVersions: [1] },
    'acceptVersions must be a list of versions (null for state without one); it is a list.',
  ],
];

test.each(POLICIES)('requestStatePolicy(%j) is rejected: %s', (options, message) => {
  expect(complaintOf(() => requestStatePolicy(options as object))).toBe(`requestStatePolicy: ${message}`);
});

test.each<[what: string, give: () => unknown, message: string]>([
  [
    'MemoryLedger',
    () => new MemoryLedger({ whenFull: 'forgets' } as object),
    "MemoryLedger: whenFull must be 'reject' or 'forget'; it is 'forgets'.",
  ],
  [
    'protectedServer',
    () => protectedServer({ name: '', version: '1' }, requestStatePolicy()),
    "protectedServer: name must be a text that is not empty; it is ''.",
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
])('%s rejects a wrong option', (_what, give, message) => {
  expect(complaintOf(give)).toBe(message);
});

test('a text in the wrong place is repeated only where it is short, and a number or a choice is expected', () => {
  const secret = 'sk-0123456789';
  for (const name of ['principal', 'ledger', 'onerror', 'now', 'version2', 'acceptVersions']) {
    expect(complaintOf(() => requestStatePolicy({ [name]: secret }))).not.toContain(secret);
  }
  for (const name of ['legacy', 'singleUse', 'ttlSeconds']) {
    const complaint = (length: number) =>
      complaintOf(() => requestStatePolicy({ [name]: 'x'.repeat(length) } as object));
    expect(complaint(12)).toContain(`it is '${'x'.repeat(12)}'.`);
    expect(complaint(13)).toContain('it is a text.');
  }
});

test.each<[options: object, message: string]>([
  [
    { limits: { stateBytes: Number.POSITIVE_INFINITY } },
    'stateBytes must be a whole number of at least 1; it is Infinity.',
  ],
  [{ limits: { rounds: 255 } }, 'rounds must be a whole number from 1 to 254; it is 255.'],
  [{ limits: { calls: 5 } }, "the option 'calls' is gone. Write `requests`."],
])('requestStatePolicy(%j) is rejected for its limits: %s', (options, message) => {
  expect(complaintOf(() => requestStatePolicy(options))).toBe(`requestStatePolicy limits: ${message}`);
});

test.each<[given: unknown, message: string]>([
  [5, 'the options must be an object; they are 5.'],
  [{ call: 1 }, "there is no option 'call'. Did you mean 'calls'?"],
  [{ calls: 0 }, 'calls must be a whole number of at least 1; it is 0.'],
  [{ perPrincipal: 0 }, 'perPrincipal must be a number above 0, and at most 1; it is 0.'],
  [{ perPrincipal: 1.1 }, 'perPrincipal must be a number above 0, and at most 1; it is 1.1.'],
  [{ rounds: 255 }, 'rounds must be a whole number from 1 to 254; it is 255.'],
])('limits %j are rejected: %s', (given, message) => {
  expect(
    complaintOf(() => limitsOf('policy', given as object, DEFAULT_LIMITS, { rounds: wholeNumber(1, 254) })),
  ).toBe(`policy limits: ${message}`);
});

test('limits that are not given have their defaults', () => {
  expect(limitsOf('policy', { calls: 5, rounds: undefined }, DEFAULT_LIMITS)).toEqual({
    ...DEFAULT_LIMITS,
    calls: 5,
  });
});

test('one principal may take its share of a limit, and always one', () => {
  expect([ownLimit(1000, 1 / 16), ownLimit(10, 0.05), ownLimit(7, 1)]).toEqual([62, 1, 7]);
});

test('an option of an earlier version names its replacement', () => {
  const give = () =>
    requireOptions<object>('policy', { maxCalls: 5 }, {}, { maxCalls: 'Write `limits: { calls }`.' });
  expect(complaintOf(give)).toBe("policy: the option 'maxCalls' is gone. Write `limits: { calls }`.");
});
