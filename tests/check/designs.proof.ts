/** Right servers that are unlike `bare.mjs`: the checker finds nothing that is not there, and says what it cannot see. */
import { type Inputs, type RunInputs, run } from '@mrtr/check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findings, probeOf } from './bare.test-support.ts';
import { mrtrCheck } from './cli.test-support.ts';
import { PRINCIPALS } from './scripted.test-support.ts';
// @ts-expect-error: a server of the proofs is plain JavaScript.
import { DESIGNS, serve } from './servers/designs.mjs';

interface Served {
  readonly url: string;
  readonly called: readonly string[];
  readonly close: () => void;
}
const served = (name: string, world?: unknown): Promise<Served> => serve(DESIGNS[name], world);

const INPUTS: Omit<RunInputs, 'address'> = {
  operation: { kind: 'tool', name: 'book', arguments: {} },
  generateAnswers: true,
  probe: probeOf('count'),
  oneTime: true,
  allowEffects: true,
  timeoutSeconds: 20,
};

async function checked(name: string, more: Partial<Inputs> = {}) {
  const server = await served(name);
  try {
    return await run({ ...INPUTS, ...more, address: { ...PRINCIPALS, url: server.url, also: server.url } });
  } finally {
    server.close();
  }
}

const FORGED = { 'state.forged': 'fail', 'state.aliased': 'advice', 'state.readable': 'advice' };
/** What is found, where it is something. Without it a design has no finding. */
const FOUND: Readonly<Record<string, object>> = {
  // Anybody can read it, which is what the check says; and nobody can change it.
  'a state that nobody protects': { ...FORGED, 'state.tampered': 'advice' },
  'an open step': FORGED,
  'an open step, and silence is consent': FORGED,
  // The second text of a state is in the ledger only where it was made in the same second.
  'a ledger of texts': { 'state.rolled-back': 'fail' },
  'a ledger of spellings': { 'state.aliased': 'fail' },
  'a JWT': { 'state.readable': 'advice' },
  // The specification asks for an error.
  'a result in which every state is refused': { 'state.malformed': 'advice' },
  // A refusal that means a default cannot be told from one that is ignored.
  'an optional question alone': { 'refusal.no-effect': 'advice' },
  'an optional question beside another': { 'refusal.no-effect': 'advice' },
  'an optional question later': { 'refusal.no-effect': 'advice' },
  'an optional question first': { 'refusal.no-effect': 'advice' },
  // The revision has no requests of servers, a ping among them.
  'a ping': { 'wire.no-server-requests': 'fail' },
};

const named = (start: string) => Object.keys(DESIGNS).filter((name) => name.startsWith(start));
const FORGETFUL = named('a refusal that is forgotten');
const WRONG = [...named('a probe'), ...FORGETFUL];
const RIGHT = Object.keys(DESIGNS).filter((name) => !WRONG.includes(name));
// Those whose words alone say what an answer means.
const IN_WORDS = ['results', 'a result', 'new keys', 'no look', 'an optional', 'a refusal'];
// That one measures time, and two hundred calls more bring nothing new here.
const only = ['wire', 'state', 'retry', 'answer', 'refusal', 'capability', 'instance', 'effect', 'era'];

describe('right servers', () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  beforeAll(() => void process.on('warning', note));
  afterAll(() => void process.off('warning', note));

  it.concurrent.each(RIGHT)('%s', async (name) => {
    expect(findings(await checked(name, { only }))).toEqual(FOUND[name] ?? {});
  });

  it.concurrent.each(RIGHT.filter((name) => IN_WORDS.some((one) => name.startsWith(one))))(
    '%s, where no probe is given',
    async (name) => {
      const { 'refusal.no-effect': _, ...found } = (FOUND[name] ?? {}) as Record<string, unknown>;
      const server = await served(name);
      const { probe, ...inputs } = INPUTS;
      try {
        const one = await run({ ...inputs, only, address: { ...PRINCIPALS, url: server.url } });
        expect(findings(one)).toEqual(found);
      } finally {
        server.close();
      }
    },
  );

  it('the checker itself raises no warning of the runtime', () => {
    expect(warnings.map(({ message }) => message)).toEqual([]);
  });
});

it.concurrent.each(FORGETFUL)(
  '%s: its next question is asked, and the answer to that has the effect',
  async (name) => {
    const all = await checked(name, { only: ['answer', 'refusal'] });
    expect(findings(all)).toEqual({ 'refusal.no-effect': 'fail' });
    const seen = (id: string) => all.checked.find(({ check }) => check.id === id)?.finding.actual;
    expect(seen('refusal.no-effect')).toMatch(
      /^After a decline of question 1 the server asked .*"Really\?", and the probe changed when that was answered: completed: "Done\."/,
    );
    expect(seen('answer.refusal-with-content')).toMatch(/which refusal\.no-effect finds/);
  },
);

// What they show by chance is in time now and then, so that some checks may have passed.
it.each(['a probe with a clock', 'a probe that is late'])('%s makes no right server fail', async (name) => {
  const found = Object.values(findings(await checked(name, { only })));
  expect(found.filter((verdict) => verdict !== 'could-not-run')).toEqual([]);
});

it('instances that say who they are finish the calls of each other', async () => {
  const world = { count: 0, used: new Set() };
  const name = 'a name of the instance';
  const [one, other] = [await served(name, world), await served(name, world)];
  try {
    const address = { ...PRINCIPALS, url: one.url, also: other.url };
    const all = await run({ ...INPUTS, only: ['instance'], address });
    expect(findings(all)).toEqual({});
  } finally {
    one.close();
    other.close();
  }
});

/** How often `--dry-run` says that each check calls the operation, where that asks two questions. */
async function planned() {
  const options = ['--also', 'http://127.0.0.1:2/mcp', '--other-header', 'a: b', '--probe', 'tool:count'];
  const { out } = await mrtrCheck('--tool', 'book', ...options, '--dry-run', 'http://127.0.0.1:1/mcp');
  const each = [...out.matchAll(/^ {2}(\S+) +\d+ or (\d+)$/gm)].map(([, id = '', n]) => [id, Number(n)]);
  const [, total] = /and (\d+) times where it asks two/.exec(out) ?? [];
  return { each: Object.fromEntries(each) as Record<string, number>, total: Number(total) };
}

it('a used approval in another spelling is advice where nobody said that it is good once', async () => {
  const only = ['state.aliased'];
  const found = await checked('a ledger of spellings', { only, oneTime: false });
  expect(findings(found)).toEqual({ 'state.aliased': 'advice' });
  expect(found.checked.at(-1)?.finding.actual).toMatch(/^A used approval worked again in another spelling/);
});

it.each([
  ['an open step', /\(the state with step = "whether" in place of "which", and no answers\)/],
  [
    'an open step, and silence is consent',
    /\(the state with step = "whether" in place of "which", and a no for an answer\) .* and the probe changed/,
  ],
])('%s: the forged state skips a question', async (name, words) => {
  const [found] = (await checked(name, { only: ['state.forged'] })).checked;
  expect(found?.finding.actual).toMatch(words);
});

const SENDING_MOST = ['an open step', 'a ledger of texts', 'a ledger of spellings'];
it.concurrent.each([
  'handles that are good once',
  'a JWT',
  'a state that nobody protects',
  'new keys',
  ...SENDING_MOST,
])('%s: no more is sent than a dry run says', async (name) => {
  const { each, total } = await planned();
  const { checked: all, calls } = await checked(name);
  // A first finding by the probe brings a few more calls, which are in the sum.
  const tooMany = all.filter((one) => one.calls > (each[one.check.id] ?? 0) + 15);
  expect(tooMany.map((one) => [one.check.id, one.calls, each[one.check.id]])).toEqual([]);
  expect(calls).toBeLessThanOrEqual(total);
});
