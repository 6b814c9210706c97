import { expect, it } from 'vitest';
import { ServerProcess } from '../target/process.ts';
import { StdioChannel } from './stdio.ts';

it('reads an answer no further than over HTTP, however many lines a server writes', async () => {
  const endless = `
    const line = 'x'.repeat(1_000_000) + '\\n';
    const flood = () => { while (process.stdout.write(line)); };
    process.stdout.on('drain', flood);
    process.stdin.once('data', flood);
  `;
  const server = new ServerProcess(process.execPath, ['-e', endless]);
  try {
    const { failure, messages } = await new StdioChannel(server, 20_000).send({ method: 'x', params: {} });
    expect([failure, messages]).toEqual(['the answer is longer than 4 MiB', []]);
  } finally {
    await server.kill();
  }
});
