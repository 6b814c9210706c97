import { expect, test } from 'vitest';
import { mirroredArguments, mirroringHeaders } from './request.ts';

test('mirrors the method, the name and the arguments that the schema marks for it', () => {
  const schema = {
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      deep: { properties: { level: { type: 'integer', 'x-mcp-header': 'Level' } } },
      absent: { type: 'string', 'x-mcp-header': 'Absent' },
    },
  };
  const mirrored = mirroredArguments(schema, { region: 'eu', deep: { level: 3 } });
  expect(mirrored).toEqual({ 'mcp-param-Region': 'eu', 'mcp-param-Level': '3' });
  const read = { method: 'resources/read', params: { uri: 'note://1' }, mirrored };
  expect(mirroringHeaders(read)).toMatchObject({
    'mcp-method': 'resources/read',
    'mcp-name': 'note://1',
    'mcp-param-Region': 'eu',
  });
});
