import type { McpServer, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { textResult } from '../results.ts';
import { eventsOf, hostTools } from './hosted.test-support.ts';
import { withSchemasOnce } from './json-schema-once.ts';

type Standard = StandardSchemaWithJSON['~standard'];

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

/** A schema that counts its conversions. Its functions need their objects, as the methods of a class do. */
class CountedSchema implements StandardSchemaWithJSON {
  readonly conversions: string[] = [];
  readonly json = { type: 'object', properties: { a: { type: 'number' } } };
  readonly '~standard' = new CountedStandard(this);
  [name: string]: unknown;
}

class CountedStandard implements Standard {
  readonly version = 1;
  readonly vendor = 'counted';
  readonly jsonSchema: Standard['jsonSchema'];
  readonly #valid = (value: unknown) => ({ value });

  constructor({ conversions, json }: CountedSchema) {
    const convert =
      (direction: string): Standard['jsonSchema']['input'] =>
      ({ target }) => {
        conversions.push(`${direction} ${target}`);
        return json;
      };
    this.jsonSchema = { input: convert('input'), output: convert('output') };
  }

  validate(value: unknown) {
    return this.#valid(value);
  }
}

test('the schemas of a tool are converted once for all servers, and stay what they are', async () => {
  const [inputSchema, outputSchema] = [new CountedSchema(), new CountedSchema()];
  const registered: unknown[] = [];
  const { post } = hostTools((server: McpServer) => {
    const tool = server.registerTool('t', { title: 'T', inputSchema, outputSchema }, () => ({
      ...textResult('Done.'),
      structuredContent: { a: 1 },
    }));
    registered.push(tool.inputSchema);
  });
  for (const _ of Array(3)) {
    const { result } = await post('tools/call', { name: 't', arguments: { a: 1 } });
    expect(result).toMatchObject({ structuredContent: { a: 1 } });
  }
  const { result } = await post('tools/list', {});
  const { json } = inputSchema;
  expect(result?.tools).toMatchObject([{ title: 'T', inputSchema: json, outputSchema: json }]);
  expect(inputSchema.conversions).toEqual(['input draft-2020-12']);
  expect(outputSchema.conversions).toEqual(['output draft-2020-12']);
  expect(registered.every((schema) => schema instanceof CountedSchema)).toBe(true);
});

test('another target, and the own options of a library, are converted anew', () => {
  const given = new CountedSchema();
  const { inputSchema } = withSchemasOnce({ inputSchema: given }) as { inputSchema: StandardSchemaWithJSON };
  const { input } = inputSchema['~standard'].jsonSchema;
  const own = { target: 'draft-07', libraryOptions: { own: true } } as const;
  for (const options of [
    { target: 'draft-07' },
    { target: 'draft-07' },
    own,
    own,
    { target: 'openapi-3.0' },
  ] as const)
    input(options);
  const conversions = ['draft-07', 'draft-07', 'draft-07', 'openapi-3.0'];
  expect(given.conversions).toEqual(conversions.map((target) => `input ${target}`));
});
