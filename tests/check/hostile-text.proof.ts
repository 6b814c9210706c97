/** Real programs, and a server whose every text commands a terminal: their output holds none of it raw. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { escapeLines } from '@mrtr/harness/internal';
import { RunningProcess } from '@mrtr/harness/process';
import { resultText as textIn } from '@mrtr/harness/transcript';
import { describe, expect, test } from 'vitest';
import { inWorld } from './bare.test-support.ts';
import { type Answers, cached, DISCOVERED, resultText, serving, textResult } from './posted.test-support.ts';

/** Sets the clipboard, hides text, clears the screen, reverses a line, and forges another. */
const HOSTILE = 'pay\u001b]52;c;b3duZWQ=\u0007\u001b[8m\u009b2J\u202e\nForged: a line';
const SHOWN = 'pay\\u{1b}]52;c;b3duZWQ=\\u{7}\\u{1b}[8m\\u{9b}2J\\u{202e}';
const READ_ONLY = `read ${HOSTILE}`;

const schema = {
  type: 'object',
  properties: { [HOSTILE]: { type: 'string', title: HOSTILE, description: HOSTILE, default: HOSTILE } },
  required: [HOSTILE],
};
const tool = { name: HOSTILE, description: HOSTILE, inputSchema: schema };
const tools = [tool, { ...tool, name: READ_ONLY, annotations: { readOnlyHint: true } }];
const question = {
  method: 'elicitation/create',
  params: { mode: 'form', message: HOSTILE, requestedSchema: schema },
};
const asks = { resultType: 'input_required', inputRequests: { [HOSTILE]: question }, requestState: HOSTILE };
const answers: Answers = ({ id, method, params }) => {
  if (method === 'server/discover') return resultText(id, DISCOVERED);
  if (method === 'tools/list') return resultText(id, cached({ tools }));
  return resultText(id, params?.inputResponses ? textResult(HOSTILE) : asks);
};

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const PROGRAMS = {
  'mrtr-check': ['--import', import.meta.resolve('tsx'), file('packages/check/src/main.ts')],
  'pnpm demo': [file('tools/cli/run.mjs'), '--server'],
};

type Program = keyof typeof PROGRAMS;

function runHere(program: Program, words: readonly string[], env: Record<string, string> = {}) {
  return serving(answers, async (url) => {
    const args = [...PROGRAMS[program], url, ...words];
    const running = new RunningProcess({ command: process.execPath, args, env });
    running.child.stdin?.end(`${HOSTILE}\n`.repeat(4));
    const code = await running.ended;
    const { out, err } = running.output;
    expect(escapeLines(out + err)).toBe(out + err);
    return { code, out, err };
  });
}

/** Throws when the program has begun to catch what nobody else does. */
const THROW = `process.on('newListener', (name) => {
  if (name === 'uncaughtException') setImmediate(() => { throw new Error(${JSON.stringify(HOSTILE)}); });
})`;

const CALL = ['--tool', HOSTILE, '--arguments', '{}'];
const CHECKED = [...CALL, '--generate-answers', '--allow-effects', '--only', 'wire.shape'];

describe.concurrent('a server’s text does not command the terminal', () => {
  test.each([
    ['mrtr-check', ['--find'], 0, 'out'],
    ['mrtr-check', ['--init', '--tool', HOSTILE], 2, 'err'],
    ['mrtr-check', ['--init', '--tool', 'other'], 2, 'err'],
    ['mrtr-check', CHECKED, 0, 'out'],
    ['pnpm demo', [], 2, 'err'],
    ['pnpm demo', ['--tool', 'other'], 2, 'err'],
    ['pnpm demo', CALL, 0, 'out'],
    ['pnpm demo', [...CALL, '--mermaid'], 0, 'out'],
  ] as const)('%s %j', async (program, words, code, stream) => {
    const ended = await runHere(program, words);
    expect(ended.code).toBe(code);
    expect(ended.out + ended.err).not.toMatch(/^Forged/m);
    // In Mermaid, a backslash and a semicolon are escaped once more.
    expect(ended[stream].replaceAll('#92;', '\\').replaceAll('#59;', ';')).toContain(SHOWN);
  });

  test('as JSON it keeps its value', async () => {
    const [checked, called] = await Promise.all([
      runHere('mrtr-check', [...CHECKED, '--json']),
      runHere('pnpm demo', [...CALL, '--json']),
    ]);
    expect(JSON.parse(checked.out).target.operation).toBe(HOSTILE);
    expect(textIn(JSON.parse(called.out).end.result)).toBe(HOSTILE);
  });

  test.each([
    ['mrtr-check', 70],
    ['pnpm demo', 1],
  ] as const)('in an error that nobody catches, of %s', async (program, code) => {
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(THROW)}`;
    const ended = await runHere(program, CALL, { NODE_OPTIONS });
    expect(ended.code).toBe(code);
    expect(ended.err).toContain(SHOWN);
  });

  test('in the file that --init writes it keeps its value', async () => {
    const written = await inWorld(async (world) => {
      const config = join(world, 'mrtr-check.json');
      const { out } = await runHere('mrtr-check', ['--init', '--only', 'wire.shape', '--config', config]);
      expect(out).toContain(SHOWN);
      return readFile(config, 'utf8');
    });
    expect(escapeLines(written)).toBe(written);
    expect(JSON.parse(written).targets[0]).toMatchObject({
      tool: READ_ONLY,
      arguments: { [HOSTILE]: HOSTILE },
    });
  });
});
