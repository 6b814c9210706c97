/** `--find`, `--init` and `--quick`, in this process. ci.proof.ts runs the files that they write. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { escapeLines } from '@mrtr/harness/internal';
import { describe, expect, test } from 'vitest';
import { bareCommand, inWorld } from './bare.test-support.ts';
import { ANSWERS, bareWith, mrtrCheck, mrtrCheckOn, onBare, TRANSFER } from './cli.test-support.ts';
import { type Answers, cached, DISCOVERED, resultText, serving, textResult } from './posted.test-support.ts';

describe('--find', () => {
  test('calls only read-only operations, lists which ask, and says why one was not tried', async () => {
    const { code, out } = await bareWith(['--find']);
    expect(code).toBe(0);
    expect(out).toMatch(/^not tried +tool transfer +not called, because it does not declare readOnlyHint$/m);
    expect(out).toMatch(/^does not ask +tool count +completed: "0"$/m);
    expect(out).toMatch(/^asks +prompt transfer +account/m);
    expect(out).toMatch(/3 of 6 ask, 2 were not tried\./);
    expect(out).toMatch(/^To check one: --prompt transfer --generate-answers$/m);
    expect(out).toMatch(/^With --allow-effects, --find calls the others too, .* may change\.\n$/m);
  });

  test('with --allow-effects calls the others too, and declines what they ask', async () => {
    const { code, out } = await bareWith(['--find', '--allow-effects']);
    expect(code).toBe(0);
    expect(out).toMatch(/^asks +tool transfer +account {2}with \{"to":"bob","amount":1\}$/m);
    expect(out).toMatch(
      /5 of 6 ask, 0 were not tried\.\nTo check one: --tool transfer --arguments '\{"to":"bob","amount":1\}' --generate-answers --allow-effects\n$/,
    );

    const answered: unknown[] = [];
    const inputSchema = { type: 'object' };
    const elicitation = {
      mode: 'form',
      message: 'Sure?',
      requestedSchema: { type: 'object', properties: {} },
    };
    const asking = {
      resultType: 'input_required',
      inputRequests: { sure: { method: 'elicitation/create', params: elicitation } },
    };
    const answers: Answers = ({ id, method, params }) => {
      if (method === 'server/discover') return resultText(id, DISCOVERED);
      if (method !== 'tools/call') return resultText(id, cached({ tools: [{ name: 'pay', inputSchema }] }));
      answered.push(params?.inputResponses);
      return resultText(id, answered.length > 1 ? textResult('Declined.') : asking);
    };
    await serving(answers, (url) => mrtrCheck('--find', '--allow-effects', url));
    expect(answered).toEqual([undefined, { sure: { action: 'decline' } }]);
  });

  test('a server that cannot be called is 3, with the reason', async () => {
    const { code, out, err } = await mrtrCheck('--find', 'http://127.0.0.1:1/mcp');
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/^mrtr-check: server\/discover got no answer: the connection failed/);
  });

  test.each([
    ['too long', 'x'.repeat(4 * 1024 * 1024), /the answer is longer than 4 MiB/],
    ['no JSON', undefined, /tools\/list got no answer that can be read: .*sorry/],
  ])('a list that is %s is 3, with the reason', async (_, description, reason) => {
    const answers: Answers = ({ id, method }) => {
      if (method === 'server/discover') return resultText(id, DISCOVERED);
      if (description === undefined) return 'sorry';
      return resultText(id, cached({ tools: [{ name: 'pay', description, inputSchema: {} }] }));
    };
    const { code, out, err } = await serving(answers, (url) => mrtrCheck('--find', url));
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/^mrtr-check: tools\/list got no answer that can be read: /);
    expect(err).toMatch(reason);
  });
});

const init = (typed: string, ...options: readonly string[]) => initOn('', typed, ...options);

/** Runs `--init` with typed input. */
async function initOn(fault: string, typed: string, ...options: readonly string[]) {
  return inWorld(async (world) => {
    const file = join(world, 'mrtr-check.json');
    const input = Object.assign(new PassThrough(), { isTTY: true });
    input.end(typed);
    const command = bareCommand(world, { fault, transport: 'stdio' });
    const ended = await mrtrCheckOn({ input }, ['--init', '--config', file, ...options, '--', ...command]);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    return { ...ended, config: text && JSON.parse(text).targets[0] };
  });
}

describe('--find, of a server with other lists,', () => {
  const listing =
    (lists: Readonly<Record<string, string>>): Answers =>
    ({ id, method }, res) => {
      if (method === 'server/discover') return resultText(id, DISCOVERED);
      if (lists[method]) return resultText(id, cached(JSON.parse(lists[method])));
      res.writeHead(401).end();
      return undefined;
    };
  const find = (lists: Readonly<Record<string, string>>) =>
    serving(listing(lists), (url) => mrtrCheck('--find', url));

  test('shows no result but a number, and arguments that a reader expects', async () => {
    const properties = {
      path: { type: 'string' },
      deep: { type: 'boolean' },
      depth: { type: 'integer', minimum: 2 },
      kind: { enum: ['file', 'folder'] },
    };
    const tool = {
      name: 'get-env',
      inputSchema: { type: 'object', properties, required: Object.keys(properties) },
    };
    const tools = [{ ...tool, annotations: { readOnlyHint: true } }];
    const answers: Answers = (posted, res) =>
      posted.method === 'tools/call'
        ? resultText(posted.id, textResult('{"API_KEY":"s3cr3t"}'))
        : listing({ 'tools/list': JSON.stringify({ tools }) })(posted, res);
    const { out } = await serving(answers, (url) => mrtrCheck('--find', url));
    expect(out).toMatch(
      /^does not ask +tool get-env +completed {2}with \{"path":"path","deep":false,"depth":2,"kind":"file"\}$/m,
    );
  });

  test('says how many it lists, and how many of them were looked at', async () => {
    const tools = Array.from({ length: 203 }, (_, at) => ({ name: `t${at}`, inputSchema: {} }));
    const { code, out } = await find({ 'tools/list': JSON.stringify({ tools }) });
    expect(code).toBe(0);
    expect(out).toMatch(
      /0 of 200 ask, 200 were not tried\. The server lists 203, and only the first 200 were/,
    );
  });

  test('is 2 where it gives no list at all', async () => {
    const { code, out, err } = await find({});
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/answers none of tools\/list, .*credentials with --header/);
    expect(await find({ 'tools/list': '{"tools":[]}' })).toMatchObject({ code: 0 });
  });
});

describe('--init', () => {
  test('asks for what is missing, runs once, and writes what it ran', async () => {
    const typed = 'transfer\nyes\n{"to":"bob","amount":5}\ntool:count\n';
    const { code, out, config } = await init(typed, '--only', 'wire.shape');
    expect(out).toMatch(/Which one to check\? .*transfer may write/s);
    expect(out).toMatch(
      /as JSON: \[\{"to":"bob","amount":1\}\] A probe, .* only the effect changes: tool:NAME, url:/,
    );
    expect(out).toMatch(/several hundred times\. Type yes if its effects do not matter here: /);
    expect(out).toMatch(/✓ 1 pass.*Wrote .*mrtr-check\.json\.\nWith generate-answers in it, .*"\]\.\n$/s);
    expect(config).toEqual({
      ...{ name: 'transfer', tool: 'transfer', arguments: { to: 'bob', amount: 5 }, only: ['wire.shape'] },
      ...{ 'generate-answers': true, 'allow-effects': true, probe: 'tool:count', command: expect.any(Array) },
    });
    expect(code).toBe(0);
  });

  test('takes what the options give, and keeps the values of headers out of the file', async () => {
    const options = ['--prompt', 'balance', '--answer', 'account="checking"', '--header', 'X-Key: s3cr3t'];
    const { config, out } = await init('\n', ...options, '--only', 'wire.shape');
    expect(config).toMatchObject({ prompt: 'balance', header: [`X-Key: $${'{MRTR_X_KEY}'}`] });
    expect(JSON.stringify(config)).not.toMatch(/s3cr3t|generate-answers|allow-effects/);
    expect(out).toMatch(/Set MRTR_X_KEY in the environment/);
  });

  test('shows a server’s tool, arguments and list without a character that commands the terminal', async () => {
    const name = 'pay\u001b]52;c;b3duZWQ=\u0007\u202e';
    const inputSchema = { type: 'object', properties: { [name]: { default: name } }, required: [name] };
    const answers: Answers = ({ id, method }) =>
      resultText(id, method === 'server/discover' ? DISCOVERED : cached({ tools: [{ name, inputSchema }] }));
    const { out, err } = await serving(answers, async (url) => {
      const input = Object.assign(new PassThrough(), { isTTY: true });
      input.end(`${name}\nyes\n`);
      return mrtrCheckOn({ input }, ['--init', '--config', '/nonexistent/c.json', url]);
    });
    expect(out).toContain('pay\\u{1b}]52;c;b3duZWQ=\\u{7}\\u{202e} may write');
    expect(out).toMatch(/Its arguments, as JSON: \[\{"pay\\/);
    expect(escapeLines(out + err)).toBe(out + err);
  });

  test('says how to accept what its first run found', async () => {
    const options = ['--prompt', 'balance', '--only', 'wire.result-type'];
    const failed = await initOn('wire.result-type', '\n', ...options);
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(
      /The first run failed\. .*"accepted".* "baseline": "that file" into .*mrtr-check\.json\./,
    );
  });

  test('writes nothing if it may not call the tool, or no tool is named', async () => {
    const refused = await init('transfer\nno\n');
    expect([refused.code, refused.config]).toEqual([2, undefined]);
    expect(refused.err).toMatch(/is not declared read-only/);
    const { code, err } = await bareWith(['--init', '--config', '/nonexistent/mrtr-check.json']);
    expect(code).toBe(2);
    expect(err).toMatch(/Name the operation: --tool NAME/);
  });
});

test('--quick says on the card what it left out, and is no complete run', async () => {
  const { out } = await onBare('', '--quick', '--only', 'state.size,state.expired', '--ttl', '9');
  expect(out).toMatch(/--quick left out: state\.expired\./);
  expect((await onBare('', '--quick', '--complete')).err).toMatch(/remove one of them/);
});

test('--quick uses the time that its first checks left', { timeout: 30_000 }, async () => {
  const { out, code } = await inWorld((world) => {
    const probe = `cmd:sleep 0.2; cat '${world}/lines' || true`;
    const only = 'capability.undeclared,refusal.decline-ends,abandon.flat,wire.shape';
    const options = ['--quick', '--max-time', '12', '--only', only, '--probe', probe];
    return mrtrCheck(...TRANSFER, ...ANSWERS, ...options, '--', ...bareCommand(world));
  });
  // Estimated by the speed of the probe, which it does not read, abandon.flat takes longer than the run may.
  expect(out).toMatch(/4 pass/);
  expect(code).toBe(0);
});
