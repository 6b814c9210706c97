/** Questions by URL, answered by this package's clients. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { converse } from '../conversations/converse.ts';
import { host } from '../hosts/host.ts';
import { eventsOf, toMermaid } from '../transcript/index.ts';
import { scriptedUser, type User } from './user.ts';

const requestedSchema = z.object({ confirm: z.boolean() });

/** A server whose tool asks in a form, and then asks to open a page. */
function deployServer(): McpServer {
  const server = new McpServer({ name: 'deployer', version: '1.0.0' });
  const inputSchema = z.object({ env: z.string() });
  server.registerTool('deploy', { inputSchema }, async ({ env }, { mcpReq: { inputResponses = {} } }) => {
    const url = `https://example.com/auth?env=${env}`;
    if (inputResponses.auth) return { content: [{ type: 'text', text: `deployed to ${env}` }] };
    return inputRequired({
      inputRequests: inputResponses.confirm
        ? { auth: inputRequired.elicitUrl({ message: 'Sign in to continue', url }) }
        : { confirm: inputRequired.elicit({ message: `Deploy to ${env}?`, requestedSchema }) },
    });
  });
  return server;
}

const deploy = (client: 'modern' | 'legacy', user: User) =>
  converse(
    { client, user, call: { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'prod' } } } },
    () => host('memory', () => ({ server: deployServer })),
  );

test.each(['modern', 'legacy'] as const)(
  'a %s client’s user opens the page that it is asked to',
  async (client) => {
    const opened: string[] = [];
    const open: User['open'] = ({ message, url }) => {
      opened.push(`${message} ${url}`);
      return { action: 'accept' };
    };
    const transcript = await deploy(client, scriptedUser({ confirm: [true] }, open));
    expect(opened).toEqual(['Sign in to continue https://example.com/auth?env=prod']);
    expect(transcript.end.result).toMatchObject({ content: [{ text: 'deployed to prod' }] });
    const [, page] = eventsOf('question', transcript.events);
    expect(page).toMatchObject({
      message: 'Sign in to continue',
      url: 'https://example.com/auth?env=prod',
      schema: {},
    });
    expect(toMermaid(transcript)).toContain('Sign in to continue" ↗ example.com/auth');
  },
);

test('a user may be silent, is asked again, and can open pages as well', async () => {
  const user = scriptedUser({ confirm: ['silence', true] }, () => ({ action: 'accept' }));
  const { end, events } = await deploy('modern', user);
  expect(eventsOf('answer', events).map(({ reply }) => reply)).toMatchObject(['silence', {}, {}]);
  expect(end.result).toMatchObject({ content: [{ text: 'deployed to prod' }] });
});
