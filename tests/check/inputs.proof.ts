/** Every input, given by its option. A run calls only the named operations. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { CHECKS, type Report } from '@mrtr/check';
import { describe, expect, test } from 'vitest';
import { bareCommand, inWorld } from './bare.test-support.ts';
import { ANSWERS, mrtrCheck, TRANSFER } from './cli.test-support.ts';
import { serving } from './posted.test-support.ts';
import { checkTwisted, refuses, type Sent, serveTwisted, type Twist } from './scripted.test-support.ts';
import { isRetry, unaskable, when } from './ways/ways.test-support.ts';

const NOWHERE = 'http://127.0.0.1:1/mcp';
const OPERATION = [...TRANSFER, '--json'];
const SEND = ['--tool', 'send', '--arguments', '{"to":"bob"}', '--allow-effects', '--json', ...ANSWERS];

async function verdictsOf(...args: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { out, err } = await mrtrCheck(...args);
  expect(err).toBe('');
  const { checks } = JSON.parse(out) as Report;
  return Object.fromEntries(checks.map(({ id, verdict, actual }) => [id, `${verdict}: ${actual}`]));
}

const onBare = (world: string, fault: string, ...args: readonly string[]) =>
  verdictsOf(...OPERATION, ...args, '--', ...bareCommand(world, { fault }));

describe.concurrent('answers', () => {
  test('come from a file, and one on the command line overrides it', async () => {
    await inWorld(async (world) => {
      const file = join(world, 'answers.json');
      await writeFile(file, JSON.stringify({ account: 'nobody has this', sure: true, '*': 'lunch' }));
      const given = ['--answers', file, '--only', 'instance.second'];
      const { code, err } = await mrtrCheck(...OPERATION, ...given, '--', ...bareCommand(world));
      expect(err).toMatch(/The answer to 'account' does not fit its form/);
      expect(code).toBe(2);
      expect(await onBare(world, '', ...given, '--answer', 'account="savings"')).toEqual({
        'instance.second': expect.stringMatching(/^pass/),
      });
    });
  });

  test('in a file have to be a JSON object', async () => {
    await inWorld(async (world) => {
      const file = join(world, 'answers.json');
      await writeFile(file, '[]');
      const { code, err } = await mrtrCheck(...OPERATION, '--answers', file, NOWHERE);
      expect(err).toMatch(/answers\.json does not contain a JSON object/);
      expect(code).toBe(2);
    });
  });
});

describe.concurrent('a probe of each kind shows a second effect', () => {
  const twice = (world: string, probe: string) =>
    onBare(world, 'retry.twice', ...ANSWERS, '--one-time', '--only', 'retry.twice', '--probe', probe);
  const FAIL = { 'retry.twice': expect.stringMatching(/^fail: .*2 effects for one approval/) };

  test.each([
    ['a tool', () => 'tool:count {}'],
    ['a command', (lines: string) => `cmd:wc -l < '${lines}'`],
    [
      'a command with the port of the server',
      (lines: string) =>
        `cmd:node -e "require('net').connect({port}).on('connect', () => process.exit())" && wc -l < '${lines}'`,
    ],
  ])('%s', async (_what, probe) => {
    await inWorld(async (world) => {
      const lines = join(world, 'lines');
      await writeFile(lines, '');
      expect(await twice(world, probe(lines))).toEqual(FAIL);
    });
  });

  test('an address', async () => {
    await inWorld(async (world) => {
      await writeFile(join(world, 'lines'), '');
      const counted = (_posted: unknown, res: ServerResponse) => {
        const count = readFileSync(join(world, 'lines'), 'utf8').split('\n').length - 1;
        res.end(`${count} lines\n`);
        return undefined;
      };
      await serving(counted, async (url) => expect(await twice(world, `url:${url}`)).toEqual(FAIL));
    });
  });

  test.each([
    ['tool:nothing', /the probe tool 'nothing' did not answer: error -32602/],
    ['url:http://127.0.0.1:1/', /the probe could not be read: fetch failed/],
    ['cmd:exit 3', /the probe could not be read: Command failed: exit 3/],
    [
      'cmd:node gone.mjs',
      /Command failed: node gone\.mjs\n +throw err;\n +\^\nError: Cannot find module '.*gone\.mjs'$/,
    ],
  ])('the probe %s cannot be read, so the check could not run', async (probe, words) => {
    await inWorld(async (world) => {
      const seen = await onBare(world, '', ...ANSWERS, '--only', 'retry.twice', '--probe', probe);
      expect(seen['retry.twice']).toMatch(/^could-not-run/);
      expect(seen['retry.twice']).toMatch(words);
    });
  });
});

describe.concurrent('second inputs', () => {
  test('state with other arguments, of another operation and of another principal is rejected', async () => {
    const only = ['state.other-arguments', 'state.other-tool', 'state.other-principal'];
    const others = [
      ...['--other-arguments', '{"to":"carol","amount":6}'],
      ...['--other-operation', 'tool:refund {"to":"bob","amount":5}'],
      ...['--header', 'Authorization: alice', '--other-header', 'Authorization: mallory'],
    ];
    await inWorld(async (world) => {
      const seen = await onBare(world, '', ...ANSWERS, '--only', only.join(), ...others);
      const rejected = expect.stringMatching(/^pass: rejected/);
      expect(seen).toEqual(Object.fromEntries(only.map((id) => [id, rejected])));
    });
  });

  test('a second instance and a restart are checked with --also and --restart', async () => {
    const twisted = when((sent) => sent.instance === 1 && isRetry(sent), refuses(-32602));
    await serveTwisted(twisted, async ({ url, also }) => {
      const only = ['--only', 'instance.second,instance.restart'];
      expect(await verdictsOf(...SEND, ...only, '--also', also, '--restart', 'true', url)).toEqual({
        'instance.second': expect.stringMatching(/^advice: The second instance rejected/),
        'instance.restart': expect.stringMatching(/^pass/),
      });
      expect(await verdictsOf(...SEND, ...only, url)).toEqual({
        'instance.second': 'not-run: --also was not given',
        'instance.restart': 'not-run: --restart was not given',
      });
      const failing = ['--restart', 'echo "no such unit" >&2; exit 5'];
      const { 'instance.restart': seen } = await verdictsOf(...SEND, ...only, ...failing, url);
      expect(seen).toMatch(/^could-not-run: --restart failed: .*no such unit/s);
    });
  });
});

describe('time', () => {
  test('to live is waited for, up to a limit', async () => {
    await inWorld(async (world) => {
      const only = ['--only', 'state.expired'];
      expect(await onBare(world, '', ...ANSWERS, ...only, '--ttl', '601')).toEqual({
        'state.expired': 'not-run: --ttl is longer than the limit of 600 s',
      });
      // Long enough for an honest call on a busy machine.
      const ttl = ['--ttl', '4'];
      const command = bareCommand(world, { args: ttl });
      const seen = await verdictsOf(...OPERATION, ...ANSWERS, ...only, ...ttl, '--', ...command);
      expect(seen['state.expired']).toMatch(/^pass: rejected after 5 s/);
    });
  });

  test('for an answer is limited, and the command that repeats a check has the limit', async () => {
    const late = when(unaskable, 'silence');
    await serveTwisted(late, async ({ url }) => {
      const options = ['--only', 'capability.undeclared', '--timeout', '3', '--seed', '9'];
      const { out } = await mrtrCheck(...SEND, ...options, url);
      const [check] = (JSON.parse(out) as Report).checks;
      expect(check).toMatchObject({ verdict: 'fail', actual: expect.stringContaining('in 3 s') });
      expect(check?.reproduce).toContain('--seed 9');
      expect(check?.reproduce).toContain('--timeout 3');
      expect(check?.curl).toContain(`curl -sS ${url}`);
    });
  });
});

describe('what is called', () => {
  const named = ({ method, params }: Sent): string => [method, params.name].filter(Boolean).join(' ');
  const QUICK = CHECKS.map(({ id }) => id).filter((id) => id !== 'abandon.flat');

  const recordCalls = async (inputs: Parameters<typeof checkTwisted>[2] = {}) => {
    const called = new Set<string>();
    const record: Twist = (sent, honest) => {
      called.add(named(sent));
      return honest();
    };
    const failure = await checkTwisted(record, QUICK, inputs).then(String, String);
    return { called: [...called].toSorted().join(), failure };
  };

  test('is the named operation and the probe, by every check', async () => {
    const { called } = await recordCalls();
    expect(called).toBe('initialize,server/discover,tools/call count,tools/call send,tools/list');
  });

  test('is nothing without --allow-effects', async () => {
    const { called, failure } = await recordCalls({ allowEffects: false });
    expect([called, failure]).toEqual([
      'server/discover,tools/list',
      expect.stringMatching(/was not called/),
    ]);
  });
});

test('every finding has a conversation, and over HTTP a curl command', async () => {
  const late: Twist = (sent, honest) =>
    sent.method === 'tools/list'
      ? { text: `{"jsonrpc":"2.0","id":${sent.id},"result":{"tools":[{"name":"send"}]}}` }
      : sent.method === 'tools/call' && sent.params.name === 'send' && isOld(sent)
        ? 'hang-up'
        : honest();
  await serveTwisted(late, async ({ url }) => {
    const { out } = await mrtrCheck(...SEND, '--only', 'wire.result-type,era.stateless', url);
    const { checks } = JSON.parse(out) as Report;
    expect(checks.map(({ verdict }) => verdict)).toEqual(['fail', 'advice']);
    for (const { conversation } of checks) expect(conversation?.events).toHaveLength(2);
    expect(checks[0]?.curl).toMatch(/^curl -sS .*tools\/list/);
  });
});

/** A client of the earlier revision sends no `_meta` with its call. */
const isOld = ({ params }: Sent): boolean => !('_meta' in params);
