/** Checks the bare server: with each fault and each method, without a fault, and with failing controls. */
import { CHECKS, type Inputs, run } from '@mrtr/check';
import { describe, expect, test } from 'vitest';
import {
  bareCommand,
  checkBare,
  EVERYTHING,
  findings,
  inWorld,
  verdicts,
  whyUndecided,
} from './bare.test-support.ts';
import { FAULTS, type Fault, HTTP_ALONE, PROMPT, RACING, REMEDIES } from './faults.ts';

const IDS = CHECKS.map(({ id }) => id);
// abandon.flat makes as many calls as all others together, so it runs only on its own fault.
const QUICK = IDS.filter((id) => id !== 'abandon.flat');
// The related checks for faults that show only between two versions.
const NEAR = ['deploy', 'effect', 'retry.twice'];

/** Runs faults concurrently, because a run mostly waits for its probe. Racing faults run one by one. */
function eachFault(faults: readonly Fault[], name: string, isFound: (fault: Fault) => Promise<void>): void {
  test.concurrent.each(faults.filter(({ id }) => !RACING.includes(id)))(name, isFound);
  test.each(faults.filter(({ id }) => RACING.includes(id)))(name, isFound);
}

/** Over stdio, because its calls take a third of the time. The checks that need HTTP run on every fault of the prompt. */
describe('every check on every faulty server', () => {
  eachFault(
    FAULTS,
    'the fault of $id is found, and nothing else',
    async ({ id, found, near, ...options }) => {
      const only = near ?? (options.next ? NEAR : QUICK.includes(id) ? QUICK : [...QUICK, id]);
      const one = await checkBare({ fault: id, only, transport: 'stdio', ...options });
      expect(findings(one), whyUndecided(one)).toEqual(found);
      const { [id]: remedy = '' } = REMEDIES;
      const reported = one.checks.find((check) => check.id === id);
      expect(reported?.remedy.slice(0, remedy.length)).toBe(remedy);
    },
  );
});

const TOOL = { ...PROMPT, kind: 'tool' } as const;
const TEXTS = { to: 'bob', amount: '5' };
/** The same conversation over other methods and transports. The two are independent, so not every pair is needed. */
const KINDS: readonly (readonly [string, 'http' | 'stdio', Partial<Inputs>])[] = [
  ['tool', 'http', {}],
  [
    'prompt',
    'http',
    {
      operation: { kind: 'prompt', name: 'transfer', arguments: TEXTS },
      otherOperation: { kind: 'prompt', name: 'refund', arguments: TEXTS },
      otherArguments: { ...TEXTS, to: 'carol' },
    },
  ],
  [
    'resource',
    'stdio',
    {
      operation: { kind: 'resource', name: 'bank://transfer/bob/5', arguments: {} },
      otherOperation: { kind: 'resource', name: 'bank://refund/bob/5', arguments: {} },
      otherArguments: { uri: 'bank://transfer/carol/5' },
    },
  ],
];

/** Checks that do not apply: a prompt has no schema, and a resource has no arguments. */
const NOT_BEHIND: Readonly<Record<string, readonly string[]>> = {
  prompt: ['consent.argument'],
  resource: ['consent.argument', 'consent.spoofed'],
};
/** Checks that depend on arguments, kind, result or list. A resource is otherwise called like a prompt. */
const OF_RESOURCES = /^(wire|consent|era|deploy)\.|^state\.other-|^retry\.twice$|^refusal\.no-effect$/;
const means = (transport: 'http' | 'stdio', kind: string) => (id: string) =>
  !NOT_BEHIND[kind]?.includes(id) && (transport === 'http' || !HTTP_ALONE.includes(id));

describe.each(KINDS.slice(1))('a %s over %s', (kind, transport, more) => {
  const faults = kind === 'resource' ? FAULTS.filter(({ id }) => OF_RESOURCES.test(id)) : FAULTS;
  eachFault(faults, 'has the fault of $id', async ({ id, found, ...options }) => {
    const method = id === 'state.other-method' && { otherOperation: { ...TOOL, arguments: TEXTS } };
    const inputs = { ...options.inputs, ...more, ...method };
    const beside = transport === 'http' && !options.next ? HTTP_ALONE : [];
    const given = { ...options, only: [...Object.keys(found), ...beside], transport, inputs };
    const expected = Object.entries(found).filter(([one]) => means(transport, kind)(one));
    expect(findings(await checkBare({ ...given, fault: id }))).toEqual(Object.fromEntries(expected));
  });
});

describe('the server without a fault', () => {
  test.concurrent.each(KINDS)(
    'passes as a %s over %s, by every check that does not wait',
    async (kind, transport, inputs) => {
      const one = await checkBare({ transport, next: [], inputs });
      expect(findings(one)).toEqual({});
      // The state is sealed, so nothing can be forged. The new version has the same questions.
      const nothing = ['state.forged', 'deploy.reworded', 'deploy.unfit'];
      const absent = IDS.filter((id) => nothing.includes(id) || !means(transport, kind)(id));
      expect(Object.keys(verdicts(one, 'not-applicable'))).toEqual(absent);
      expect(Object.keys(verdicts(one, 'not-run'))).toEqual(['state.other-method', 'state.expired']);
    },
  );

  test.concurrent.each([
    ['prompt', 'balance'],
    ['resource', 'bank://balance'],
  ] as const)('passes as a %s that asks, and writes nothing', async (kind, name) => {
    const operation = { kind, name, arguments: {} };
    const inputs = { operation, otherOperation: TOOL, answers: { '*': 'checking' }, oneTime: false };
    const one = await checkBare({ inputs });
    expect(findings(one)).toEqual({});
    const passed = ['wire.schema', 'state.tampered', 'state.other-method', 'answer.invalid'];
    expect(Object.keys(verdicts(one, 'pass'))).toEqual(expect.arrayContaining(passed));
    expect(Object.keys(verdicts(one, 'not-applicable'))).toContain('retry.twice');
  });

  test.concurrent('passes with generated answers, and the same seed makes the same ones', async () => {
    const seen = async () => {
      const inputs = { answers: {}, generateAnswers: true, seed: 7 };
      const one = await checkBare({ only: ['answer'], inputs });
      expect(findings(one)).toEqual({});
      return one.checks.map(({ actual }) => actual);
    };
    const [one, two] = await Promise.all([seen(), seen()]);
    expect(two).toEqual(one);
  });
});

test.concurrent('a server that gives a call up at the first bad state is asked with a new call each time', async () => {
  const args = ['--burns'];
  // The server ends a call at a forgery with the old signature, so the one without a signature needs another call.
  const faulty = await checkBare({ fault: 'state.forged', only: ['state.forged'], args });
  expect(findings(faulty)).toEqual({ 'state.forged': 'fail' });
  const only = ['state.forged', 'state.tampered', 'state.malformed', 'state.aliased'];
  expect(findings(await checkBare({ only, args }))).toEqual({});
});

describe('nothing is decided', () => {
  test.concurrent.each(IDS)('by %s alone, where its honest calls fail', async (id) => {
    const inputs = { ttlSeconds: 0, ...(id === 'state.other-method' && { otherOperation: PROMPT }) };
    // After two honest calls of three requests each, every call is an isError result.
    const next = id.startsWith('deploy.') ? ['--calls-until-broken', 'Infinity'] : undefined;
    const transport = HTTP_ALONE.includes(id) ? 'http' : 'stdio';
    const args = ['--calls-until-broken', '6'];
    const one = await checkBare({ only: [id], transport, args, inputs, next });
    expect(one.checks.map(({ verdict }) => verdict)).toEqual(['could-not-run']);
  });

  test('by any check, where the first honest call fails', async () => {
    const one = await checkBare({ args: ['--calls-until-broken', '2'] });
    expect(Object.keys(verdicts(one, 'could-not-run'))).toHaveLength(CHECKS.length);
  });

  test('by a check whose input was not given, which says which', async () => {
    const bare = await inWorld((world) => {
      const { otherOperation, probe, ...rest } = EVERYTHING;
      return run({ ...rest, oneTime: false, address: { command: bareCommand(world) } });
    });
    const missing = bare.checks.filter(({ verdict }) => verdict === 'not-run');
    const saying = (words: string, picked: (id: string) => boolean) =>
      Object.fromEntries(IDS.filter(picked).map((id) => [id, words]));
    const effects =
      /^(retry|effect)\.|^consent\.(?!blind|spoofed)|^(refusal\.no-effect|instance\.replay-elsewhere)$/;
    expect(Object.fromEntries(missing.map(({ id, actual }) => [id, actual]))).toEqual({
      'state.other-tool': '--other-operation tool:NAME was not given',
      'state.other-method': '--other-operation with another kind (tool:, prompt: or resource:) was not given',
      'state.other-principal': '--other-header was not given',
      'state.expired': '--ttl was not given',
      ...saying('--next was not given', (id) => id.startsWith('deploy.')),
      ...saying('--probe was not given, so that effects are not seen', (id) => effects.test(id)),
    });
    expect(findings(bare)).toEqual({});
  });

  test('about effects, by a probe that an honest call does not change', async () => {
    const still = { kind: 'cmd', command: 'echo 1' } as const;
    const one = await checkBare({ only: ['retry', 'effect'], inputs: { probe: still } });
    expect(Object.values(findings(one))).toEqual(Array(7).fill('could-not-run'));
    expect(one.checks[0]?.actual).toMatch(/does not change the probe/);
  });

  test('by a probe that changes by itself', async () => {
    const restless = { kind: 'cmd', command: 'date +%s%N' } as const;
    const one = await checkBare({ only: ['retry.twice'], inputs: { probe: restless } });
    expect(one.checks[0]?.actual).toMatch(/the probe changes by itself/);
  });
});
