/** `pnpm serve option-h --store postgres` without a PostgreSQL starts one. */
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { modernClient } from '@mrtr/harness';
import { expect, test } from 'vitest';

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));

test('serves on a PostgreSQL that it starts itself, without a given key', async () => {
  const args = [RUN, 'serve', 'h', '--store', 'postgres'];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    cwd: tmpdir(),
    stderr: 'ignore',
  });
  const elicit = () => ({ action: 'accept' as const, content: { units: 'metric' } });
  const client = await modernClient(transport, { elicit }, { fallback: true });
  const { content } = await client.callTool({ name: 'get_weather', arguments: { location: 'Tokyo' } });
  expect(content).toEqual([{ type: 'text', text: 'Weather in Tokyo: 22°C, partly cloudy.' }]);
  await client.close();
}, 90_000);
