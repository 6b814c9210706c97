/**
 * Behaviour of the SDK that the boundary relies on, that the SDK does not document, and that no test of the boundary
 * shows.
 */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { hostServers, oldClient } from '../admission/hosted.test-support.ts';
import { textResult } from './results.ts';

const INFO = { name: 'facts', version: '1.0.0' };

const noForm = z.object({});
const ODD_STATE = 'v1.~é\0\ufeff\r\n 😀 "%7E+/=';

test('the legacy shim enters the handler again, and echoes its state byte for byte', async () => {
  const states: unknown[] = [];
  const host = {
    server: () => {
      const server = new McpServer(INFO);
      server.registerTool('t', {}, (ctx) => {
        states.push(ctx.mcpReq.requestState());
        if (ctx.mcpReq.inputResponses) return textResult('Done.');
        return inputRequired({ inputRequests: { q: LEGS.elicitation }, requestState: ODD_STATE });
      });
      return server;
    },
  };
  const client = await oldClient(host, () => ({ action: 'accept', content: {} }));
  expect(await client.callTool({ name: 't' })).toEqual(textResult('Done.'));
  expect(states).toEqual([undefined, ODD_STATE]);
});

const LEGS = {
  elicitation: inputRequired.elicit({ message: '?', requestedSchema: noForm }),
  url: inputRequired.elicitUrl({ message: '?', url: 'https://example.com' }),
  sampling: inputRequired.createMessage({ messages: [], maxTokens: 1 }),
  tools: inputRequired.createMessage({ messages: [], maxTokens: 1, tools: [] }),
  roots: inputRequired.listRoots(),
};

test.each<[keyof typeof LEGS, unknown, unknown]>([
  ['elicitation', {}, { elicitation: { form: {} } }],
  ['elicitation', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  ['url', { elicitation: {} }, { elicitation: { url: {} } }],
  ['sampling', { elicitation: {} }, { sampling: {} }],
  ['tools', { sampling: {} }, { sampling: { tools: {} } }],
  ['roots', {}, { roots: {} }],
])(
  'a question (%s) to a client that declares %j is -32021 with HTTP 400',
  async (leg, capabilities, missing) => {
    const { send } = hostServers(() => {
      const server = new McpServer(INFO);
      server.registerTool('t', {}, () =>
        inputRequired({ inputRequests: { q: LEGS[leg] }, requestState: 's' }),
      );
      server.registerPrompt('t', {}, () => inputRequired({ inputRequests: { q: LEGS[leg] } }));
      return server;
    });
    for (const method of ['tools/call', 'prompts/get']) {
      const response = await send(method, { name: 't' }, { capabilities });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: -32021, data: { requiredCapabilities: missing } },
      });
    }
  },
);
