/** Checks correct servers that differ from `bare.mjs`: no false findings, and undecided checks say why. */
import type { Inputs } from '@mrtr/check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findings } from './bare.test-support.ts';
import { mrtrCheck } from './cli.test-support.ts';
import { DESIGN, DESIGNS } from './designs.ts';
import { checkTwisted, untwisted } from './scripted.test-support.ts';

function checked(name: string, { only, ...more }: Partial<Inputs> = {}) {
  const { twist = () => untwisted, ...design } = DESIGNS[name] ?? {};
  const inputs = { generateAnswers: true, answers: {}, timeoutSeconds: 20, ...more };
  return checkTwisted(twist(), only, inputs, { ...DESIGN, ...design });
}

const FORGED = { 'state.forged': 'fail', 'state.aliased': 'advice', 'state.readable': 'advice' };
/** The expected findings. A design that is not listed has none. */
const FOUND: Readonly<Record<string, object>> = {
  // Anybody can read the state, as the check reports, but nobody can change it.
  'a state that nobody protects': { ...FORGED, 'state.tampered': 'advice' },
  'an open step': FORGED,
  'an open step, and silence is consent': { ...FORGED, 'answer.missing': 'warn' },
  // The ledger has the second text of a state only if it was made in the same second.
  'a ledger of texts': { 'state.rolled-back': 'fail', 'retry.other-answers': 'fail' },
  'a ledger of spellings': { 'state.aliased': 'fail', 'retry.other-answers': 'fail' },
  'a JWT': { 'state.readable': 'advice' },
  // The specification requires an error.
  'a result in which every state is rejected': { 'state.malformed': 'advice' },
  // A refusal that means the default looks like one that is ignored.
  'an optional question alone': { 'refusal.no-effect': 'advice' },
  'an optional question beside another': { 'refusal.no-effect': 'advice' },
  'an optional question later': { 'refusal.no-effect': 'advice' },
  'an optional question first': { 'refusal.no-effect': 'advice' },
  // The revision has no server requests, so no ping either.
  'a ping': { 'wire.no-server-requests': 'fail' },
};

const named = (start: string) => Object.keys(DESIGNS).filter((name) => name.startsWith(start));
const FORGETFUL = named('a refusal that is forgotten');
const WRONG = [...named('a probe'), ...FORGETFUL];
const RIGHT = Object.keys(DESIGNS).filter((name) => !WRONG.includes(name));
// Designs whose messages alone show whether a call was refused.
const WITHOUT_PROBE = ['results', 'a result', 'new keys', 'no look', 'an optional', 'a refusal'];
// Without abandon.flat, which measures time: its two hundred calls prove nothing new here.
const only = [
  'wire',
  'state',
  'retry',
  'answer',
  'refusal',
  'form',
  'capability',
  'instance',
  'effect',
  'era',
];

const SENDING_MOST = ['an open step', 'a ledger of texts', 'a ledger of spellings'];
const COUNTED = [
  'handles that are good once',
  'a JWT',
  'a state that nobody protects',
  'new keys',
  ...SENDING_MOST,
];

/** The number of calls that `--dry-run` prints for each check, for an operation with two questions. */
async function planned() {
  const options = ['--also', 'http://127.0.0.1:2/mcp', '--other-header', 'a: b', '--probe', 'tool:count'];
  const { out } = await mrtrCheck('--tool', 'send', ...options, '--dry-run', 'http://127.0.0.1:1/mcp');
  const each = [...out.matchAll(/^ {2}(\S+) +\d+ or (\d+)$/gm)].map(([, id = '', n]) => [id, Number(n)]);
  const [, total] = /and (\d+) times where it asks two/.exec(out) ?? [];
  return { each: Object.fromEntries(each) as Record<string, number>, total: Number(total) };
}

describe('right servers', () => {
  const plan = planned();
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  beforeAll(() => void process.on('warning', note));
  afterAll(() => void process.off('warning', note));

  test.concurrent.each(RIGHT.filter((name) => !COUNTED.includes(name)))('%s', async (name) => {
    expect(findings(await checked(name, { only }))).toEqual(FOUND[name] ?? {});
  });

  test.concurrent.each(COUNTED)('%s, and no more is sent than a dry run says', async (name) => {
    const { each, total } = await plan;
    const one = await checked(name);
    const isWanted = ([id]: [string, unknown]) => only.some((family) => id.startsWith(`${family}.`));
    expect(Object.fromEntries(Object.entries(findings(one)).filter(isWanted))).toEqual(FOUND[name] ?? {});
    // The first finding by the probe adds a few calls, which the total includes.
    const tooMany = one.checks.filter(({ id, calls }) => calls > (each[id] ?? 0) + 15);
    expect(tooMany.map(({ id, calls }) => [id, calls, each[id]])).toEqual([]);
    expect(one.summary.calls).toBeLessThanOrEqual(total);
  });

  test.concurrent.each(RIGHT.filter((name) => WITHOUT_PROBE.some((one) => name.startsWith(one))))(
    '%s, where no probe is given',
    async (name) => {
      const { 'refusal.no-effect': _, ...found } = (FOUND[name] ?? {}) as Record<string, unknown>;
      expect(findings(await checked(name, { only, probe: undefined } as never))).toEqual(found);
    },
  );

  test('the checker itself raises no warning of the runtime', () => {
    expect(warnings.map(({ message }) => message)).toEqual([]);
  });
});

test.concurrent.each(FORGETFUL)(
  '%s: its next question is asked, and the answer to that has the effect',
  async (name) => {
    const all = await checked(name, { only: ['answer', 'refusal'] });
    expect(findings(all)).toEqual({ 'refusal.no-effect': 'fail' });
    const seen = (id: string) => all.checks.find((one) => one.id === id)?.actual;
    expect(seen('refusal.no-effect')).toMatch(
      /^After a decline of question 1 the server asked .*"What is \w+\?", and the probe changed when that was answered: completed: "Done\."/,
    );
    expect(seen('answer.refusal-with-content')).toMatch(/as refusal\.no-effect reports/);
  },
);

// These probes are sometimes in time, so some checks pass.
test.concurrent.each(['a probe with a clock', 'a probe that is late'])(
  '%s makes no right server fail',
  async (name) => {
    const found = Object.values(findings(await checked(name, { only })));
    expect(found.filter((verdict) => verdict !== 'could-not-run')).toEqual([]);
  },
);

test('a used approval in another spelling is advice without --one-time', async () => {
  const only = ['state.aliased'];
  const found = await checked('a ledger of spellings', { only, oneTime: false });
  expect(findings(found)).toEqual({ 'state.aliased': 'advice' });
  expect(found.checks.at(-1)?.actual).toMatch(/^A used approval worked again in another spelling/);
});

test.each([
  ['an open step', /\(the state with step = "whether" in place of "which", and no answers\)/],
  [
    'an open step, and silence is consent',
    /\(the state with step = "whether" in place of "which", and a no for an answer\) .* and the probe changed/,
  ],
])('%s: the forged state skips a question', async (name, words) => {
  const [found] = (await checked(name, { only: ['state.forged'] })).checks;
  expect(found?.actual).toMatch(words);
});
