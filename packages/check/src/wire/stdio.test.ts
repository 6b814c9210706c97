import { expect, test } from 'vitest';
import { ServerProcess } from './process.ts';
import { StdioChannel } from './stdio.ts';

const PATIENT = { timeoutMs: 20_000, over: new AbortController().signal };
const REQUEST = { method: 'x', params: {} };

test('reads an answer no further than over HTTP, however many lines a server writes', async () => {
  const endless = `
    const line = 'x'.repeat(1_000_000) + '\\n';
    const flood = () => { while (process.stdout.write(line)); };
    process.stdout.on('drain', flood);
    process.stdin.once('data', flood);
  `;
  const server = new ServerProcess(process.execPath, ['-e', endless]);
  try {
    const { failure, messages } = await new StdioChannel(server, PATIENT).send(REQUEST);
    expect([failure, messages]).toEqual(['the answer is longer than 4 MiB', []]);
  } finally {
    await server.kill();
  }
});

test('says that a server has closed its standard input, and does not wait for an answer', async () => {
  const deaf = 'require("fs").closeSync(0); console.log("{}"); setInterval(() => {}, 1000)';
  const server = new ServerProcess(process.execPath, ['-e', deaf]);
  try {
    await new Promise<void>((resolve) => server.onLine(() => resolve()));
    const { failure, late } = await new StdioChannel(server, PATIENT).send(REQUEST);
    expect([failure, late]).toEqual(['the process has closed its standard input', undefined]);
  } finally {
    await server.kill();
  }
});
