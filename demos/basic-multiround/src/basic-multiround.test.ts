import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('the program prints the six messages and both questions', { timeout: 30_000 }, () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', main], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "client → {"method":"tools/call","params":{"name":"resolve","arguments":{"id":4522}}}
    server ← {"result":{"resultType":"input_required","inputRequests":{"resolution":{"method":"elicitation/create","params":{"mode":"form","message":"How was #4522 resolved?","requestedSchema":"(a form)"}}},"requestState":"(sealed, 143 characters)"}}

      The user reads "How was #4522 resolved?" and says Duplicate.

    client → {"method":"tools/call","params":{"name":"resolve","arguments":{"id":4522},"inputResponses":{"resolution":{"action":"accept","content":{"resolution":"Duplicate"}}},"requestState":"(sealed, 143 characters)"}}
    server ← {"result":{"resultType":"input_required","inputRequests":{"original":{"method":"elicitation/create","params":{"mode":"form","message":"Which item is #4522 a duplicate of?","requestedSchema":"(a form)"}}},"requestState":"(sealed, 175 characters)"}}

      The user reads "Which item is #4522 a duplicate of?" and says 4301.

    client → {"method":"tools/call","params":{"name":"resolve","arguments":{"id":4522},"inputResponses":{"original":{"action":"accept","content":{"original":4301}}},"requestState":"(sealed, 175 characters)"}}
    server ← {"result":{"content":[{"type":"text","text":"#4522 resolved as Duplicate of #4301."}],"resultType":"complete"}}
    "
  `);
});
