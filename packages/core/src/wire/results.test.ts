import { ProtocolError } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { cancelledResult, endCall, endCancelled, errorResult, textResult } from './results.ts';

const text = (text: string) => ({ content: [{ type: 'text', text }] });

test('the helpers build text, error and cancelled results', () => {
  expect({
    done: textResult('Done.'),
    error: errorResult('Give an id.'),
    cancelled: cancelledResult('units'),
  }).toEqual({
    done: text('Done.'),
    error: { ...text('Give an id.'), isError: true },
    cancelled: text("Cancelled: the question 'units' was not answered."),
  });
});

test('endCall ends a tool call with an error result, endCancelled without one', () => {
  const call = { method: 'tools/call' } as const;
  expect(endCall(call, 'Too many rounds.')).toEqual({ ...text('Too many rounds.'), isError: true });
  expect(endCancelled(call, undefined)).toEqual(text('Cancelled.'));
  expect(endCancelled(call, 'units')).toEqual(text("Cancelled: the question 'units' was not answered."));
});

test.each(['prompts/get', 'resources/read'] as const)(
  '%s has no room for an error in its result, so it ends with a JSON-RPC error',
  (method) => {
    expect(() => endCall({ method }, 'Too many rounds.')).toThrow(
      new ProtocolError(-32600, 'Too many rounds.'),
    );
    expect(() => endCancelled({ method }, undefined)).toThrow(new ProtocolError(-32600, 'Cancelled.'));
  },
);
