import { type ReadResourceResult, ResourceTemplate } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { hostTools } from './hosted.test-support.ts';
import { shapeCallback } from './shape-callback.ts';

// The contract of the shapes has callbacks for tools, prompts and resources, with a schema and without.
test('for a resource with a template, a shape gets its address and its variables', async () => {
  const seen: unknown[] = [];
  const read = shapeCallback<{ uri: URL; variables: object }, ReadResourceResult>(
    'test',
    async ({ uri, variables }, ctx, call) => {
      seen.push(uri.href, variables, ctx.mcpReq.method, call.target);
      return { contents: [] };
    },
  );
  const { post } = hostTools((server) => {
    const template = new ResourceTemplate('item://{id}', { list: undefined });
    server.registerResource('item', template, {}, read as never);
  });
  await post('resources/read', { uri: 'item://7' });
  expect(seen).toEqual(['item://7', { id: '7' }, 'resources/read', 'item://7']);
});
