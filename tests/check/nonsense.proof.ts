/** A server whose answers turn into nonsense: the checker ends with a verdict for every check, and does not crash. */
import { CHECKS, formatReports, type Report, run } from '@mrtr/check';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EVERYTHING } from './bare.test-support.ts';
import { type Answers, DISCOVERED, serving, textResult } from './posted.test-support.ts';

// Some libraries fail on an object whose `toString` is not a function.
const json = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant({ toString: 1, valueOf: null }));
const form = fc.record({
  mode: fc.constantFrom('form', 'url', 'x'),
  ...{ message: json, requestedSchema: json, url: json },
});
const asked = fc.record(
  {
    method: fc.oneof(fc.constantFrom('elicitation/create', 'sampling/createMessage', 'roots/list'), json),
    params: fc.oneof(form, json),
  },
  { requiredKeys: [] },
);
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

const SCHEMA = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] };
const FORM = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: SCHEMA },
};
const STATE = 'c3RhdGUtb2YtdGhlLWNhbGwtWA';
const ASKS = { resultType: 'input_required', inputRequests: { sure: FORM }, requestState: STATE };

const honestTo = (method: string, params: Record<string, unknown> | undefined) => {
  if (method === 'server/discover') return DISCOVERED;
  return params?.inputResponses ? textResult('Done.') : ASKS;
};

/** Answers two calls honestly, then every third request with nonsense. */
function spoiling(seed: number): Answers {
  const answers = fc.sample(nonsense, { seed, numRuns: 400 });
  let calls = 0;
  return ({ id, method, params }) => {
    const called = method === 'tools/call' && params?.name === 'transfer';
    const spoiled = called && ++calls > 6 && calls % 3 === 0;
    const answer = spoiled ? answers[calls % answers.length] : { result: honestTo(method, params) };
    const isMessage = typeof answer === 'object' && !Array.isArray(answer);
    return JSON.stringify(isMessage ? { jsonrpc: '2.0', id, ...answer } : answer);
  };
}

const { probe: _probe, ...UNPROBED } = EVERYTHING;
const YES = { answers: { '*': true }, timeoutSeconds: 2 };
const defectsOf = ({ checks }: Report) =>
  checks.flatMap(({ id, actual }) => (actual.includes('defect of mrtr-check') ? [[id, actual]] : []));

test.each([1, 2, 3, 4])('nonsense of seed %i is judged, and reported', async (seed) => {
  const principals = { headers: { authorization: 'a-token' }, otherHeaders: { authorization: 'b-token' } };
  const one = await serving(spoiling(seed), (url) =>
    run({ ...UNPROBED, address: { url, also: url, ...principals }, ...YES }),
  );
  expect(defectsOf(one)).toEqual([]);
  expect(one.checks).toHaveLength(CHECKS.length);
  for (const format of ['terminal', 'html', 'markdown'] as const)
    expect(formatReports([one], format)).toContain('mrtr-check');
});
