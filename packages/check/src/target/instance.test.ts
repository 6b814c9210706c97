import { expect, it } from 'vitest';
import { printedUrl } from './instance.ts';

it('takes the address that the server printed, at its own port and on this machine', () => {
  expect(printedUrl('listening on http://127.0.0.1:4711/api/mcp.', 4711)).toBe(
    'http://127.0.0.1:4711/api/mcp',
  );
  expect(printedUrl('up at "http://0.0.0.0:4711/mcp"', 4711)).toBe('http://localhost:4711/mcp');
  expect(printedUrl('metrics at http://127.0.0.1:9000/metrics', 4711)).toBe('http://localhost:4711/mcp');
  expect(printedUrl('see https://example.com:4711/docs', 4711)).toBe('http://localhost:4711/mcp');
  expect(printedUrl('', 4711)).toBe('http://localhost:4711/mcp');
});
