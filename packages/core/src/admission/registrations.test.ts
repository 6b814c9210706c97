import { expect, test } from 'vitest';
import { z } from 'zod';
import { textResult } from '../wire/results.ts';
import { eventsOf, hostTools } from './hosted.test-support.ts';

test('each entry of a plain handler is published, with its call', async () => {
  const [handlers, rounds] = [eventsOf('mrtr:handler'), eventsOf('mrtr:round')];
  const { post } = hostTools((server) => {
    server.registerTool('t', { inputSchema: z.object({ a: z.number() }) }, ({ a }) => textResult(`${a}`));
    const replaced = server.registerTool('bare', {}, () => textResult('never'));
    replaced.update({ callback: () => textResult('') });
    server.registerPrompt('p', {}, () => ({ messages: [] }));
    server.registerResource('r', 'r://r', {}, (uri) => ({ contents: [{ uri: uri.href, text: '' }] }));
  });
  expect((await post('tools/call', { name: 't', arguments: { a: 1 } })).result).toMatchObject(
    textResult('1'),
  );
  await post('tools/call', { name: 'bare' });
  await post('prompts/get', { name: 'p' });
  await post('resources/read', { uri: 'r://r' });
  const calls = rounds.filter(({ phase }) => phase === 'start').map(({ call }) => call);
  expect(handlers).toEqual(
    ['t', 'bare', 'p', 'r://r'].map((target, at) => ({ call: calls[at], target, part: 'handler' })),
  );
});
