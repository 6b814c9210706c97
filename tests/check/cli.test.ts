/** The exit codes and error messages of the program. cli.proof.ts covers its reports and files. */
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { bareCommand, inWorld } from './bare.test-support.ts';
import { ANSWERS, bareWith, mrtrCheck, OPERATION, onBare, TRANSFER } from './cli.test-support.ts';
import { type Answers, resultText, serving } from './posted.test-support.ts';

describe('exit codes', { timeout: 30_000 }, () => {
  test('a server that cannot be reached is 3', async () => {
    const { code, out } = await mrtrCheck('--tool', 'a', '--only', 'wire', 'http://127.0.0.1:1/mcp');
    expect(out).toMatch(/COULD NOT RUN/);
    expect(out).toMatch(/server\/discover got no answer: the connection failed/);
    expect(out).not.toMatch(/does not speak/);
    expect(code).toBe(3);
  });

  test('an input that was not given is 0 beside a check that ran, 3 under --complete, and 3 where none ran', async () => {
    expect((await onBare('', '--only', 'state.expired,state.size')).code).toBe(0);
    expect((await onBare('', '--only', 'state.expired,state.size', '--complete')).code).toBe(3);
    const none = await onBare('', '--only', 'state.expired');
    expect(none.out).toMatch(/exit 3: an input was not given/);
    expect(none.code).toBe(3);
  });

  test('a tool that may write is 2, and is not called then', async () => {
    const { code, err } = await bareWith(OPERATION.filter((word) => word !== '--allow-effects'));
    expect(err).toMatch(/is not declared read-only .* --allow-effects/s);
    expect(code).toBe(2);
  });

  // Two spaces separate words, because JSON and commands contain single ones.
  test.each([
    ['AT', /Name the operation: --tool NAME/],
    ['--tool  a  --prompt  b  AT', /not --tool and --prompt/],
    ['--tool  a', /Say where the server is/],
    ['--tool  a  ftp://example.com', /http or https address/],
    ['--tool  a  --arguments  {  AT', /It is not JSON/],
    ['--tool  a  --arguments  []  AT', /--arguments has to be a JSON object/],
    ['--tool  a  --answer  sure=yes  AT', /--answer has to be KEY=JSON/],
    ['--tool  a  --probe  count  AT', /--probe has to begin with tool:, url: or cmd:/],
    ['--tool  a  --probe  url:http://localhost:{port}/  AT', /its command has no \{port\}: write the port/],
    ['--tool  a  http://localhost:{port}/mcp', /The address has to be an http or https address/],
    ['--tool  a  --only  nonsense  AT', /There is no check 'nonsense'/],
    ['--tool  a  --report  pdf  AT', /It has to be one of terminal, json/],
    ['--tool  a  --header  secret-without-name  AT', /--header has to be 'Name: value'/],
    [
      '--tool  a  --also  AT  --  node  x.mjs',
      /--also and --restart are for a server that the checker does not start/,
    ],
    ['--tool  a  AT  --  node  x.mjs', /needs \{port\} in the command/],
    ['--tool  a  --next  node v2.mjs  AT', /--next has no \{port\}.* or give the address at which it/s],
    ['--tool  a  --next  node v2.mjs  --  node  v1.mjs  {port}', /--next has no .* takes its port:/s],
    ['--tool  a  --next  node v2.mjs {port}  --  node  v1.mjs', /over stdio, and --next over HTTP/],
    ['--tool  a  --next  http://  AT', /--next is not an address/],
    ['--tool  a  --', /There is no command after --/],
    [
      '--tool  a  --arguments  {"n":"1"}  --vary  m  AT',
      /--vary: 'm' is no argument of the call\..* are: n\./,
    ],
    [
      '--tool  a  --arguments  {"n":"1"}  --vary  n  --vary  n=[1]  AT',
      /--vary takes one NAME alone, or lists/,
    ],
    // Inputs that would cause false findings, or prove nothing.
    ['--tool  a  --only=  AT', /--only names no check/],
    ['--tool  a  --ttl  300  --max-time  20  AT', /The run waits for --ttl 300, but --max-time 20 ends/],
    ['--tool  a  --arguments  {"n":1}  --other-arguments  {"n":1}  AT', /--other-arguments are the same/],
    ['--tool  a  --other-operation  tool:a  AT', /--other-operation is the operation itself/],
    ['--tool  a  --also  AT  AT', /--also is the address of the server itself/],
    ['--tool  a  --header  x: 1  --other-header  X: 1  AT', /--other-header is the same principal/],
  ])('the mistake in %j is 2, with an error message', async (row, message) => {
    const { code, out, err } = await mrtrCheck(...row.replaceAll('AT', 'http://127.0.0.1:1/mcp').split('  '));
    expect(err).toMatch(message);
    expect(err).not.toContain('secret-without-name');
    expect(out).toBe('');
    expect(code).toBe(2);
  });
});

test('a new version that does not start is 2 before any call, and its output is shown', async () => {
  const next = 'echo "no such branch" >&2; exit 3';
  const { code, err } = await bareWith([...OPERATION, '--next', next], { transport: 'stdio' });
  expect(err).toMatch(/The new version \(--next\) ended .*exit code 3.* It wrote:\nno such branch/s);
  expect(code).toBe(2);
});

test('--list names every check, and --dry-run counts calls without a server', async ({ expect }) => {
  expect((await mrtrCheck('--list')).out.trim().split('\n')).toHaveLength(64);
  const { code, out } = await mrtrCheck(...OPERATION, '--dry-run', 'http://127.0.0.1:1/mcp');
  expect(out).toMatch(/It would call tool transfer up to about \d+ times .* Nothing was sent now\./s);
  expect(out).toMatch(/state\.expired +not run: --ttl was not given/);
  expect(out).toMatch(/deploy\.survives +not run: --next was not given/);
  expect(code).toBe(0);
});

describe('mistakes that look like findings', { timeout: 30_000 }, () => {
  test('an answer that does not fit its question is 2, and says why and what fits', async () => {
    const { code, err } = await onBare('', '--answer', 'account="cash"', '--only', 'answer.missing');
    expect(err).toMatch(
      /The answer to 'account' does not fit its form: .*allowed values\. Give one such as --answer 'account=\{"account":"(checking|savings)"\}'/,
    );
    expect(code).toBe(2);
  });

  test('a probe without a number is 3, and the card says what to give', async () => {
    const { code, out } = await inWorld((world) => {
      const probe = ['--probe', `cmd:tr -d '0-9' < '${world}/lines' || true`, '--only', 'effect'];
      return mrtrCheck(...TRANSFER, ...ANSWERS, ...probe, '--', ...bareCommand(world));
    });
    expect(out).toMatch(
      / 1 check could not run, and the run ends with 3 .* that something changed, not how often\./,
    );
    expect(code).toBe(3);
    expect((await onBare('', '--only', 'effect')).out).not.toMatch(/how often/);
  });

  test('the error for a question without an answer names an answer with a mistyped key', async () => {
    const { code, err } = await bareWith(OPERATION.map((one) => one.replace('account="', 'acount="')));
    expect(err).toMatch(
      /asks 'account' .* no answer was given \(there are some for 'acount'.*\)\. Add --answer 'account=\{"account":"(checking|savings)"\}'/,
    );
    expect(code).toBe(2);
  });

  test('an operation that asks nothing is not blamed on generated answers', async () => {
    const { code, out } = await bareWith(['--tool', 'count', '--generate-answers', '--only', 'retry']);
    expect(out).toMatch(/the operation asked nothing/);
    expect(out).not.toMatch(/generated answer/);
    expect(code).toBe(3);
  });

  test('for an HTTP server started without {port}, the error says that it is called over stdio', async () => {
    // A shell, because a slow program may not have written its output in time.
    const command = ['sh', '-c', 'echo listening at port 80 >&2; exec sleep 60'];
    const options = ['--tool', 'a', '--timeout', '2', '--only', 'wire'];
    const { code, out } = await mrtrCheck(...options, '--', ...command);
    expect(out).toMatch(/got no answer in 2 s\. A command without \{port\} is called over\s+stdio/);
    expect(out).toMatch(/It wrote: listening at/);
    expect(code).toBe(3);
  });

  test('the output and the card say that a server speaks only the earlier revision, and link to help', async () => {
    const old: Answers = ({ id, method, headers }) =>
      method === 'initialize' && headers['mcp-protocol-version'] === '2025-11-25'
        ? resultText(id, { protocolVersion: '2025-11-25', capabilities: {} })
        : JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32002, message: 'Server not initialized' } });
    const { code, out } = await serving(old, (url) =>
      mrtrCheck('--tool', 'a', '--report', 'json=/dev/null', url),
    );
    expect(out).toMatch(/the server speaks 2025-11-25 alone, .*docs\/migrating\.md\n +wire\.result-type, /s);
    expect(out).toMatch(/no session could be opened: .*Server not initialized/s);
    expect(code).toBe(3);
  });

  test('an address without MCP is reported as such, not as another revision', async () => {
    const missing = (_posted: unknown, res: ServerResponse) => {
      res.writeHead(404).end('Not found');
      return undefined;
    };
    const { code, out } = await serving(missing, (url) =>
      mrtrCheck('--tool', 'transfer', '--only', 'wire', new URL('/other', url).href),
    );
    expect(out).toMatch(/there is no MCP at \/other \(HTTP 404\): give the whole\s+address/);
    expect(code).toBe(3);
  });
});
