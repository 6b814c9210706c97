import { ServerProcess } from '@mrtr/harness/internal';
import { afterEach, expect, test } from 'vitest';
import { fetchOver } from './stdio-fetch.ts';

const ADDRESS = 'http://server.invalid/mcp';

let program: ServerProcess;
afterEach(() => program.kill());

/** A program that answers each line with what `body` writes. */
function start(body: string): ReturnType<typeof fetchOver> {
  const write = 'const write = (it) => console.log(JSON.stringify({ jsonrpc: "2.0", ...it }));';
  const lines = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => { const { id, method, params } = JSON.parse(line); ${body} })`;
  program = new ServerProcess(process.execPath, ['-e', `${write} ${lines}`]);
  return fetchOver(program, async () => {});
}

const post = (message: object) => ({ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
const call = (id: number) => post({ id, method: 'tools/call', params: { id } });

test('an answer alone is JSON, and what comes before an answer makes a stream of both', async () => {
  const send = start(
    'if (id > 1) write({ method: "notifications/message" }); write({ id, result: { of: id } });',
  );
  const alone = await send(ADDRESS, call(1));
  expect(alone.headers.get('content-type')).toMatch(/json/);
  expect(await alone.json()).toMatchObject({ id: 1, result: { of: 1 } });
  const both = await send(ADDRESS, call(2));
  expect(both.headers.get('content-type')).toBe('text/event-stream');
  expect((await both.text()).match(/"(?:method|result)"/g)).toEqual(['"method"', '"result"']);
});

test('answers that come in another order reach their own requests', async () => {
  const send = start('if (id === 2) for (const one of [2, 1]) write({ id: one, result: { of: one } });');
  const answers = [1, 2].map(async (id) => (await send(ADDRESS, call(id))).json());
  expect(await Promise.all(answers)).toMatchObject([{ result: { of: 1 } }, { result: { of: 2 } }]);
});

test('a request of the program goes down the stream of the call, and its answer back to the program', async () => {
  const send = start(
    'if (method) write({ id: 7, method: "elicitation/create" }); else write({ id: 1, result: { answered: id } });',
  );
  const asked = await send(ADDRESS, call(1));
  expect((await send(ADDRESS, post({ id: 7, result: {} }))).status).toBe(202);
  expect(await asked.text()).toContain('"answered":7');
});

test('a call that is given up is cancelled in the program', async () => {
  const send = start('if (method === "notifications/cancelled") write({ id: 2, result: params }); ');
  const given = new AbortController();
  void send(ADDRESS, { ...call(1), signal: given.signal });
  const cancelled = send(ADDRESS, call(2));
  given.abort();
  expect(await (await cancelled).json()).toMatchObject({ result: { requestId: 1 } });
});

test.each([
  ['ends', 'console.error("out of coffee"); process.exit(1)', /The server ended: out of coffee/],
  ['never ends its line', 'process.stdout.write("x".repeat(5e6))', /The server ended/],
  [
    'sends without end',
    'const go = () => { write({ method: "notifications/message" }); setImmediate(go); }; go();',
    /The server ended/,
  ],
])('a program that %s ends the call with an error, and is gone', async (_what, body, why) => {
  const send = start(body);
  const text = send(ADDRESS, call(1)).then((response) => response.text());
  await expect(text).rejects.toThrow(why);
  await program.ended;
  await expect(send(ADDRESS, call(2))).rejects.toThrow('The connection was refused');
});

test('what a program sends to a client that has gone harms nobody', async () => {
  const send = start(
    'const go = (left) => { if (left > 0) { write({ method: "notifications/message" }); setImmediate(go, left - 1); } else write({ id: 1, result: {} }); };' +
      'if (id === 1) go(50); else write({ id, result: {} });',
  );
  await (await send(ADDRESS, call(1))).body?.cancel();
  expect(await (await send(ADDRESS, call(2))).text()).toContain('"id":2');
  expect(program.alive).toBe(true);
});

test('lines that are no messages are ignored', async () => {
  const send = start(
    'console.log("listening"); console.log("null"); console.log("[1]"); write({ id, result: {} });',
  );
  expect(await (await send(ADDRESS, call(1))).json()).toMatchObject({ id: 1 });
});
