import { fileURLToPath } from 'node:url';
import { escapeLines, requestInit } from '@mrtr/harness/internal';
import { RunningProcess } from '@mrtr/harness/process';
import { expect, onTestFinished, test } from 'vitest';
import { INITIALIZE, oldRequest } from '../../packages/hosting/src/hosting.test-support.ts';
import { MAX_LINE_BYTES } from '../testkit/stdio-limit.ts';

const PROGRAM = fileURLToPath(new URL('./stdio-server.test-support.ts', import.meta.url));

function start(): RunningProcess {
  const args = ['--import', import.meta.resolve('tsx'), PROGRAM];
  const program = new RunningProcess({ command: process.execPath, args });
  onTestFinished(() => program.kill());
  return program;
}

test.each(['first', 'later'])(
  'a %s line of over 10 MiB ends the connection with its reason, and releases the instance',
  async (which) => {
    const program = start();
    if (which === 'later') {
      program.child.stdin?.write(`${requestInit('tools/list').body.padEnd(MAX_LINE_BYTES - 1, ' ')}\n`);
      await program.until(({ out }) => (out.includes('"tools"') ? true : undefined));
    }
    // Write more than the limit: a program whose stdin is empty at the end waits for the client to close it.
    program.child.stdin?.write('x'.repeat(MAX_LINE_BYTES + 1_048_576));
    expect(await program.ended).toBe(0);
    expect(program.output.err).toBe('ReadBuffer exceeded maximum size of 10485760 bytes\nClosed 1 times.\n');
  },
);

test('a client’s text in an error does not command the terminal', async () => {
  const program = start();
  program.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"tools/list","\u009b2J\u202e\\n":1}\n');
  expect(await program.ended).toBe(0);
  expect(program.output.err).toContain('\\u{9b}2J\\u{202e}');
  expect(escapeLines(program.output.err)).toBe(program.output.err);
});

test('a client that closes our stdin ends the connection, and releases the instance', async () => {
  const program = start();
  const { stdin } = program.child;
  stdin?.write(`${requestInit('tools/list').body}\n`);
  await program.until(({ out }) => (out.includes('\n') ? true : undefined));
  stdin?.end();
  expect(await program.ended).toBe(0);
  expect(program.output).toEqual({ out: expect.stringContaining('"tools"'), err: 'Closed 1 times.\n' });
});

test.each([
  ['new', [requestInit('tools/call', { name: 'wait' })]],
  ['old', [INITIALIZE, oldRequest('tools/call', { name: 'wait' }, undefined, 2)]],
])('a %s client that closes our stdin while a handler runs fires its signal', async (_era, requests) => {
  const program = start();
  const { stdin } = program.child;
  for (const { body } of requests) stdin?.write(`${body}\n`);
  await program.until(({ err }) => (err.includes('Entered.') ? true : undefined));
  stdin?.end();
  expect(await program.ended).toBe(0);
  expect(program.output.err).toBe('Entered.\nThe signal fired.\nClosed 1 times.\n');
});

test('a client that closes our stdout ends the connection, and releases the instance', async () => {
  const program = start();
  const { stdin, stdout } = program.child;
  stdout?.destroy();
  const { body } = requestInit('tools/list');
  // The first answer may still fit into the pipe.
  const again = setInterval(() => stdin?.write(`${body}\n`), 20);
  onTestFinished(() => clearInterval(again));
  expect(await program.ended).toBe(0);
  expect(program.output.err).toContain('Closed 1 times.\n');
});
