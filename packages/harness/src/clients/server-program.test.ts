/** Servers that a client starts as programs, and that end early. */
import { expect, test } from 'vitest';
import { converse } from '../conversations/converse.ts';
import { foreignHosting } from '../hosts/endpoint.ts';
import type { ClientKind } from '../transcript/call.ts';
import { eventsOf } from '../transcript/index.ts';
import { scriptedUser } from './user.ts';

/** An old server on the bare protocol. It ends if the first message is not `initialize`. */
function oldServer() {
  const send = (message: object) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let [text, initialized] = ['', false];
  let asked: unknown;
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const { id, method, result } = JSON.parse(line);
      if (!initialized && method !== 'initialize') process.exit(1);
      initialized = true;
      const welcome = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'old', version: '1' },
      };
      if (method === 'initialize') send({ id, result: welcome });
      if (method === 'tools/call') {
        asked = id;
        const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } };
        send({ id: 'q', method: 'elicitation/create', params: { message: 'Sure?', requestedSchema } });
      }
      if (id === 'q') {
        const content = [{ type: 'text', text: `Sure: ${result.content.sure}` }];
        send({ id: asked, result: { content } });
      }
    }
  });
}

function call(client: ClientKind, code: string, options = {}) {
  const program = { command: process.execPath, args: ['-e', code], ...options };
  const call = { method: 'tools/call', params: { name: 'deploy' } } as const;
  return converse({ client, call, user: scriptedUser({ sure: [true] }) }, () =>
    foreignHosting({ kind: 'stdio', ...program }),
  );
}

test('a modern client asks the user of an old server that ends at a message before initialize', async () => {
  const { end, events } = await call('modern', `(${oldServer})()`);
  expect(end.result?.content).toEqual([{ type: 'text', text: 'Sure: true' }]);
  expect(eventsOf('question', events)).toHaveLength(1);
  const refused = await call('modern-only', `(${oldServer})()`);
  expect(refused.end.error?.message).toBe('The server ended: it wrote nothing to stderr.');
});

const CRASH = `console.error('Starting.'); class InvalidPolicy extends Error { name = 'InvalidPolicy' }
  throw new InvalidPolicy('keys[0] is ' + process.env.KEY)`;

test.each(['modern', 'modern-only', 'legacy'] as const)(
  'a server that ends before a %s client has connected says why',
  async (client) => {
    let stderr = '';
    const onStderr = (text: string) => {
      stderr += text;
    };
    const { end } = await call(client, CRASH, { onStderr, env: { KEY: 'missing' } });
    expect(end.error).toEqual({ message: 'The server ended: InvalidPolicy: keys[0] is missing' });
    expect(stderr).toMatch(/^Starting\.\n[\s\S]+ at /);
  },
);

test('a server that ends in a call says why, and one that cannot be started is named', async () => {
  const fails = `${oldServer}; oldServer(); process.stdin.on('data', (line) => {
    if (line.includes('tools/call')) { console.error('Out of memory.'); process.exit(1) }
  })`;
  for (const client of ['modern', 'legacy'] as const) {
    expect((await call(client, fails)).end.error?.message).toBe('The server ended: Out of memory.');
    const { end } = await call(client, '', { command: 'no-such-program' });
    expect(end.error?.message).toBe('The server could not be started: spawn no-such-program ENOENT');
  }
});

test('a modern-only client says that an old server is not for it, and not that it ended', async () => {
  const lenient = `(${oldServer})()`.replace(
    'process.exit(1)',
    'return send({ id, error: { code: -32601, message: "" } })',
  );
  const { end } = await call('modern-only', lenient);
  expect(end.error?.message).toContain('did not offer pinned protocol version');
});
