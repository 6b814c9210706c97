/** A server whose answers turn into nonsense: the checker ends, with a verdict for every check, and no defect of its own. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CHECKS, htmlReport, markdownReport, reportOf, run, terminalReport } from '@mrtr/check';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EVERYTHING } from './bare.test-support.ts';

// An object with a `toString` that cannot be called is no text, and not every library notices.
const json = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant({ toString: 1, valueOf: null }));
const asked = fc.record(
  {
    method: fc.oneof(fc.constantFrom('elicitation/create', 'sampling/createMessage', 'roots/list'), json),
    params: fc.oneof(
      fc.record({
        mode: fc.constantFrom('form', 'url', 'x'),
        message: json,
        requestedSchema: json,
        url: json,
      }),
      json,
    ),
  },
  { requiredKeys: [] },
);
/** Results and errors of every kind, most of which are none. */
const nonsense = fc.oneof(
  fc.record({
    result: fc.record(
      {
        resultType: fc.oneof(fc.constantFrom('complete', 'input_required'), json),
        inputRequests: fc.oneof(fc.dictionary(fc.string(), fc.oneof(asked, json), { maxKeys: 3 }), json),
        requestState: fc.oneof(fc.string(), json),
        content: json,
        isError: json,
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ error: fc.record({ code: json, message: json, data: json }, { requiredKeys: [] }) }),
  fc.record({ result: json }),
  json,
);

const FORM = {
  method: 'elicitation/create',
  params: {
    message: 'Sure?',
    requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] },
  },
};
const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: {},
  ttlMs: 0,
  cacheScope: 'private',
};

type Answers = (called: {
  readonly method: string;
  readonly params: Record<string, unknown> | undefined;
  readonly id: number;
}) => string;

/** A server whose answer to each request is a text. */
async function serving(answers: Answers): Promise<{ server: Server; url: string }> {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = answers(JSON.parse(Buffer.concat(chunks).toString()));
    res.writeHead(200, { 'content-type': 'application/json' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

const ASKS = {
  resultType: 'input_required',
  inputRequests: { sure: FORM },
  requestState: 'c3RhdGUtb2YtdGhlLWNhbGwtWA',
};
const done = (text: string) => ({ resultType: 'complete', content: [{ type: 'text', text }] });

const honestTo = (method: string, params: Record<string, unknown> | undefined) => {
  if (method === 'server/discover') return DISCOVERED;
  return params?.inputResponses ? done('Done.') : ASKS;
};

/** Honest for as long as two calls take, and at every second call afterwards; nonsense in between. */
function serve(seed: number): Promise<{ server: Server; url: string }> {
  const answers = fc.sample(nonsense, { seed, numRuns: 400 });
  let calls = 0;
  return serving(({ id, method, params }) => {
    const called = method === 'tools/call' && params?.name === 'transfer';
    const spoiled = called && ++calls > 6 && calls % 3 === 0;
    const answer = spoiled ? answers[calls % answers.length] : { result: honestTo(method, params) };
    const body =
      typeof answer === 'object' && !Array.isArray(answer) ? { jsonrpc: '2.0', id, ...answer } : answer;
    return JSON.stringify(body);
  });
}

it('a server whose every answer is large fills no memory: the run ends in words', async () => {
  const x = Array.from({ length: 99_000 }, () => 0);
  const { server, url } = await serving(({ id, method, params }) =>
    JSON.stringify({ jsonrpc: '2.0', id, result: { ...honestTo(method, params), _meta: { x } } }),
  );
  try {
    const { probe, ...inputs } = EVERYTHING;
    const address = { url, headers: {} };
    const { checked } = await run({ ...inputs, address, answers: { '*': true }, timeoutSeconds: 20 });
    const full = 'the answers of this run are together larger than 512 MiB';
    expect(checked.at(-1)?.finding.actual).toContain(full);
    expect(checked.filter(({ finding }) => finding.actual.includes('defect of mrtr-check'))).toEqual([]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('a server that asks for ever is not called for ever', async () => {
  let [calls, effects] = [0, 0];
  const { server, url } = await serving(({ id, method, params }) => {
    if (params?.name === 'count') return JSON.stringify({ jsonrpc: '2.0', id, result: done(`${effects}`) });
    if (method === 'tools/call') calls++;
    // Two honest calls of two requests each.
    const result = calls > 4 ? ASKS : honestTo(method, params);
    if (result !== ASKS && method === 'tools/call') effects++;
    return JSON.stringify({ jsonrpc: '2.0', id, result });
  });
  try {
    const { otherOperation, ...inputs } = EVERYTHING;
    const address = { url, headers: {} };
    const only = ['effect.once'];
    await run({ ...inputs, address, only, answers: { '*': true }, timeoutSeconds: 2 });
    expect(calls).toBeLessThan(50);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it.each([1, 2, 3, 4])('nonsense of seed %i is judged, and reported', async (seed) => {
  const { server, url } = await serve(seed);
  try {
    const { probe, ...inputs } = EVERYTHING;
    const address = {
      url,
      also: url,
      headers: { authorization: 'a-token' },
      otherHeaders: { authorization: 'b-token' },
    };
    const one = await run({ ...inputs, address, answers: { '*': true }, timeoutSeconds: 2 });
    const defects = one.checked.filter(({ finding }) => finding.actual.includes('defect of mrtr-check'));
    expect(defects.map(({ check, finding }) => [check.id, finding.actual])).toEqual([]);
    expect(one.checked).toHaveLength(CHECKS.length);
    const report = reportOf(one);
    for (const text of [terminalReport(report), htmlReport([report]), markdownReport(report)])
      expect(text).toContain('mrtr-check');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
