import {
  type CallToolResult,
  type GetPromptResult,
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { textResult } from '../wire/results.ts';
import { hostTools } from './hosted.test-support.ts';
import { shapeCallback } from './shape-callback.ts';

/** Registers a tool and a prompt, each with and without a schema, and a resource. `seen` collects what they get. */
const registering =
  (seen: unknown[]) =>
  (server: McpServer): void => {
    const tool = shapeCallback<object, CallToolResult>('test', async (input, ctx, call) => {
      seen.push([input, ctx.mcpReq.method, call.target]);
      return textResult('');
    });
    const prompt = shapeCallback<object, GetPromptResult>('test', async (input, ctx, call) => {
      seen.push([input, ctx.mcpReq.method, call.target]);
      return { messages: [] };
    });
    const resource = shapeCallback<URL, ReadResourceResult>('test', async (input, ctx, call) => {
      seen.push([input.href, ctx.mcpReq.method, call.target]);
      return { contents: [] };
    });
    server.registerTool('with', { inputSchema: z.object({ a: z.number() }) }, tool);
    server.registerTool('without', {}, tool);
    server.registerPrompt('with', { argsSchema: z.object({ a: z.string() }) }, prompt);
    server.registerPrompt('without', {}, prompt);
    server.registerResource('r', 'r://r', {}, resource);
    const templated = shapeCallback<{ variables: object }, ReadResourceResult>('test', async (input) => {
      seen.push(input.variables);
      return { contents: [] };
    });
    const template = new ResourceTemplate('item://{id}', { list: undefined });
    server.registerResource('item', template, {}, templated as never);
  };

test('a shape gets the input, the context and the record of its call, with a schema and without', async () => {
  const seen: unknown[] = [];
  const { post } = hostTools(registering(seen));
  await post('tools/call', { name: 'with', arguments: { a: 1 } });
  await post('tools/call', { name: 'without', arguments: { a: 1 } });
  await post('prompts/get', { name: 'with', arguments: { a: '1' } });
  await post('prompts/get', { name: 'without' });
  await post('resources/read', { uri: 'r://r' });
  await post('resources/read', { uri: 'item://7' });
  expect(seen).toEqual([
    [{ a: 1 }, 'tools/call', 'with'],
    [{}, 'tools/call', 'without'],
    [{ a: '1' }, 'prompts/get', 'with'],
    [{}, 'prompts/get', 'without'],
    ['r://r', 'resources/read', 'r://r'],
    { id: '7' },
  ]);
});
