import { inputRequired } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as wire from './wire.ts';

const elicitRequest = inputRequired.elicit({ message: '?', requestedSchema: z.object({ a: z.string() }) });
const samplingRequest = inputRequired.createMessage({ messages: [], maxTokens: 1 });
const rootsRequest = inputRequired.listRoots();
const accepted = { action: 'accept', content: { a: 'b' } };
const sampled = { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } };
const roots = { roots: [{ uri: 'file:///tmp' }] };

const SAMPLES: Record<string, unknown> = {
  elicitRequest,
  samplingRequest,
  rootsRequest,
  accepted,
  sampled,
  roots,
  toolResult: { content: [] },
  promptResult: { messages: [] },
  resourceResult: { contents: [] },
  inputRequired: inputRequired({ requestState: 's' }),
  requests: { a: elicitRequest, b: samplingRequest, c: rootsRequest },
  responses: { a: accepted, b: sampled, c: roots },
  mixed: { a: elicitRequest, b: accepted },
  unknownMethod: { method: 'elicitation/delete', params: {} },
  unknownAction: { action: 'perhaps' },
  halfARequest: { method: 'elicitation/create' },
  empty: {},
  array: [],
  text: 'accept',
  nothing: null,
};

test('every guard lets pass what it names, and nothing else', () => {
  const { isMrtrMethod: _, ...guards } = Object.fromEntries(
    Object.entries(wire).filter(([name]) => name.startsWith('is')),
  ) as Record<string, (value: unknown) => boolean>;
  const passed = Object.entries(guards).map(([name, guard]) => [
    name,
    Object.keys(SAMPLES).filter((sample) => guard(SAMPLES[sample])),
  ]);
  expect(Object.fromEntries(passed)).toEqual({
    isCallToolResult: ['toolResult'],
    isGetPromptResult: ['promptResult'],
    isReadResourceResult: ['resourceResult'],
    isInputRequiredResult: ['inputRequired'],
    isElicitRequest: ['elicitRequest'],
    isCreateMessageRequest: ['samplingRequest'],
    isListRootsRequest: ['rootsRequest'],
    isInputRequest: ['elicitRequest', 'samplingRequest', 'rootsRequest'],
    isInputRequests: ['requests', 'empty'],
    isElicitResult: ['accepted'],
    isCreateMessageResult: ['sampled'],
    isListRootsResult: ['roots'],
    isInputResponse: ['accepted', 'sampled', 'roots'],
    isInputResponses: ['responses', 'empty'],
  });
});

test('the three methods that may answer input_required, and no other', () => {
  const methods = [
    'tools/call',
    'prompts/get',
    'resources/read',
    'tools/list',
    'initialize',
    '',
    'Tools/Call',
  ];
  expect(methods.filter(wire.isMrtrMethod)).toEqual(wire.MRTR_METHODS);
  for (const value of [undefined, null, 0, ['tools/call']]) expect(wire.isMrtrMethod(value)).toBe(false);
});
