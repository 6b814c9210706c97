/** Runs the program with options, and reads its output. */
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKS, type Report } from '@mrtr/check';
import { RunningProcess } from '@mrtr/harness/process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { bareCommand, inWorld, nextCommand } from './bare.test-support.ts';
import { mrtrCheck, mrtrCheckOn, OPERATION, onBare } from './cli.test-support.ts';

const SCHEMA = new URL('../../packages/check/report.schema.json', import.meta.url);
const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')));

describe.concurrent('reports', () => {
  test('JSON fits its schema, holds every check once, and nothing else is printed', async () => {
    const secret = ['--header', 'Authorization: Bearer s3cr3t-token'];
    const { code, out, err } = await onBare('retry.twice', '--json', '--one-time', ...secret);
    const report = JSON.parse(out) as Report;
    expect(validate(report) || validate.errors).toBe(true);
    expect(validate({ ...report, more: 1 })).toBe(false);
    expect(new Set(report.checks.map(({ id }) => id)).size).toBe(CHECKS.length);
    expect(report.exitCode).toBe(code);
    expect(err).toBe('');
    expect(out).not.toContain('s3cr3t-token');
    const [found] = report.checks.filter(({ id }) => id === 'retry.twice');
    expect(found?.conversation?.events.length).toBeGreaterThan(6);
    expect(found?.reproduce).toMatch(
      /^npx --no-install mrtr-check --only retry\.twice --seed 1 --tool transfer .*--header 'authorization: <redacted>'/,
    );
  });

  test('name the new version, also in the command that repeats a check', async () => {
    const { out, next } = await inWorld(async (world) => {
      const command = { transport: 'stdio', fault: 'deploy.survives' } as const;
      const next = nextCommand(world, command);
      const words = [...OPERATION, '--only', 'deploy.survives', '--next', next, '--json'];
      return { next, ...(await mrtrCheck(...words, '--', ...bareCommand(world, command))) };
    });
    const report = JSON.parse(out) as Report;
    expect(validate(report) || validate.errors).toBe(true);
    expect(report.target.next).toBe(next);
    const [check] = report.checks;
    expect([check?.verdict, check?.reproduce]).toEqual(['advice', expect.stringContaining('--next ')]);
  });

  test('every format is written to its file', async () => {
    await inWorld(async (world) => {
      const formats = ['json', 'junit', 'markdown', 'html', 'terminal'];
      const reports = formats.flatMap((one) => ['--report', `${one}=${join(world, one)}`]);
      const { code } = await onBare('answer.invalid', '--only', 'answer', ...reports);
      expect(code).toBe(0);
      const read = (name: string) => readFile(join(world, name), 'utf8');
      expect(JSON.parse(await read('json'))).toHaveProperty('summary.warn', 1);
      expect(await read('junit')).toMatch(/<testsuite name="tools\/call transfer" tests="8" failures="0"/);
      expect(await read('markdown')).toMatch(/## warn: `answer\.invalid`/);
      expect(await read('html')).toMatch(/<h2 class="warn">warn: <code>answer\.invalid<\/code>/);
      expect(await read('terminal')).toMatch(/! WARN {2}answer\.invalid/);
    });
  });
});

describe.concurrent('baseline', () => {
  const withBaseline = (accepted: unknown, fault: string) =>
    inWorld(async (world) => {
      const file = join(world, 'baseline.json');
      await writeFile(file, JSON.stringify({ accepted }));
      return onBare(fault, '--only', 'retry.twice', '--one-time', '--baseline', file);
    });

  test('a finding that is accepted and no longer found fails the run', async () => {
    const { code, out } = await withBaseline({ 'retry.twice': 'It was so once.' }, '');
    expect(out).toMatch(/The baseline accepts retry\.twice, which is no longer found/);
    expect(code).toBe(1);
  });

  test('a finding with a ticket and a last day is accepted until then, and is a finding again after it', async () => {
    const entry = { reason: 'We mend it.', ticket: 'BANK-7', expires: '2999-12-31' };
    const accepted = await withBaseline({ 'retry.twice': entry }, 'retry.twice');
    expect(accepted.out).toMatch(/accepted: We mend it\. \(BANK-7, until 2999-12-31\)/);
    expect(accepted.code).toBe(0);
    const expired = await withBaseline({ 'retry.twice': { ...entry, expires: '2020-01-31' } }, 'retry.twice');
    expect(expired.out.replace(/\s+/g, ' ')).toMatch(
      /no longer accepts this: We mend it\. \(BANK-7, until 2020-01-31\)/,
    );
    expect(expired.code).toBe(1);
  });

  test('an entry without a reason, or for an unknown check, is an error', async () => {
    expect((await withBaseline({ 'retry.twice': '' }, '')).err).toMatch(/without a reason/);
    expect((await withBaseline({ 'retry.thrice': 'x' }, '')).err).toMatch(/which is not a check/);
    const entry = { reason: 'x', expires: '2026-02-31' };
    expect((await withBaseline({ 'retry.twice': entry }, '')).err).toMatch(/write expires as/);
  });
});

test.concurrent('a configuration file checks several targets, with secrets from the environment', async () => {
  await inWorld(async (world) => {
    const call = { tool: 'transfer', arguments: { to: 'bob', amount: 5 } };
    const target = { ...call, 'allow-effects': true, 'generate-answers': true };
    const at = (name: string, fault: string, more: object) => {
      const command = bareCommand(join(world, name), { fault });
      return { ...target, name, command, ...more };
    };
    const next = nextCommand(join(world, 'good'));
    const targets = [
      at('good', '', { next, only: ['answer.invalid', 'deploy.survives'] }),
      at('bad', 'answer.invalid', { only: ['answer.invalid'], strict: true }),
    ];
    const file = join(world, 'mrtr-check.json');
    await writeFile(file, JSON.stringify({ targets }));
    const { code, out } = await mrtrCheck('--config', file, '--json');
    const all = JSON.parse(out) as { reports: readonly Report[] };
    expect(validate(all) || validate.errors).toBe(true);
    const { reports } = all;
    expect(reports.map(({ target, exitCode }) => `${target.name} ${exitCode}`)).toEqual(['good 0', 'bad 1']);
    expect(code).toBe(1);
    const header = `Authorization: $${'{MRTR_NO_SUCH_NAME}'}`;
    await writeFile(file, JSON.stringify({ targets: [{ ...target, header }] }));
    expect((await mrtrCheck('--config', file)).err).toMatch(/the environment has no MRTR_NO_SUCH_NAME/);
  });
});

describe.concurrent('a run against `pnpm serve option-g`, as the README has it', () => {
  const RUN = fileURLToPath(new URL('../../tools/cli/run.mjs', import.meta.url));
  const LINE = '--tool get_weather --arguments {"location":"Tokyo"} --generate-answers --allow-effects'.split(
    ' ',
  );

  test('finds nothing over HTTP', async () => {
    const args = [RUN, 'serve', 'option-g', '--http', '0'];
    const server = new RunningProcess({ command: process.execPath, args });
    try {
      const address = await server.until(({ err }) => /at (http:\S+)/.exec(err)?.[1]);
      const { code, out } = await mrtrCheck(...LINE, address);
      expect(out).toMatch(/✗ 0 fail {4}! 0 warn {4}· 0 advice/);
      expect(out).toMatch(/\d\d of \d\d checks ran · \d{3} requests · [\d.]+ s · seed 1\n/);
      expect(code).toBe(0);
    } finally {
      await server.kill();
    }
  });

  test('finds over stdio that a restart loses a generated key', async () => {
    const { code, out } = await mrtrCheck(...LINE, '--', process.execPath, RUN, 'serve', 'option-g');
    expect(out).toMatch(/✗ 0 fail {4}! 0 warn {4}· 2 advice/);
    expect(out).toMatch(/advice {2}instance\.second {2}instance\.restart/);
    expect(code).toBe(0);
  });
});

test.concurrent('if every report goes to a file, the card is printed without the findings', async () => {
  await inWorld(async (world) => {
    const file = ['--report', `json=${join(world, 'report')}`];
    const { out, code } = await onBare('wire.duplicate-keys', '--only', 'wire.duplicate-keys', ...file);
    expect(out).toMatch(/ {2}fail {4}wire\.duplicate-keys\n/);
    expect(out).toMatch(/exit 1: a check failed\n$/);
    expect(out).not.toMatch(/expected/);
    expect(code).toBe(1);
  });
});

test.concurrent('progress on a terminal shows the number of checks, and the reason for a wait', async () => {
  const { err } = await inWorld((world) => {
    const options = ['--only', 'state.expired,state.size', '--ttl', '1'];
    const command = bareCommand(world, { args: ['--ttl', '1'] });
    return mrtrCheckOn({ isTTY: true }, [...OPERATION, ...options, '--', ...command]);
  });
  expect(err).toMatch(/1 of 2 {2}state\.size/);
  expect(err).toMatch(/2 of 2 {2}state\.expired, which waits 1 s/);
});
