/** Servers with several common mistakes: each finding correctly names its own mistake. */
import { expect, test } from 'vitest';
import { reportOf } from '../../packages/check/src/report/report.ts';
import { runChecks } from '../../packages/check/src/run/run.ts';
import { bareInputs, type checkBare, fail, findings, inWorld } from './bare.test-support.ts';
import { checkTwisted, refuses, type Twist } from './scripted.test-support.ts';
import { acts, again, answeredWith, auditing, unaskable, when } from './ways/ways.test-support.ts';

const wordsOf = (one: Awaited<ReturnType<typeof checkBare>>): string =>
  one.checks.map(({ id, actual }) => `${id}: ${actual}`).join('\n');

test.concurrent('a second effect is found and counted where a call has another effect before its question', async () => {
  const ids = ['retry.twice', 'retry.concurrent', 'retry.lost-response', 'instance.replay-elsewhere'];
  const one = await checkTwisted(auditing(again(acts('sure accept,memo accept'))), ids);
  expect(findings(one)).toEqual(fail(...ids));
  expect(wordsOf(one).match(/\d+(?= effects for one approval)/g)).toEqual(['2', '10', '2', '2']);
});

test.concurrent('a default in place of a missing answer is found in a later round, by answer.missing alone', async () => {
  const only = ['answer.missing', 'answer.other-key', 'answer.other-round'];
  const accept = (value: unknown) => ({ action: 'accept', content: { value } });
  const defaults = { sure: accept(true), memo: accept('lunch') };
  const one = await checkTwisted(answeredWith(defaults), only);
  expect(findings(one)).toEqual({ 'answer.missing': 'warn' });
  expect(wordsOf(one)).toMatch(/answer\.missing: The retry without answers, in round 2, had an effect/);
  expect(wordsOf(one).match(/a retry without any answer ends the same/g)).toHaveLength(2);
});

test.concurrent('the curl line of a finding sends the altered request, and not an honest one that followed it', async () => {
  const options = { fault: 'state.aliased', only: ['state.aliased'] };
  const { inputs, ...ran } = await inWorld((world) => runChecks(bareInputs(world, options)));
  // Only a server that the checker did not start gets a curl line.
  const address = { url: 'http://127.0.0.1/mcp', headers: {} };
  const [reported] = reportOf({ ...ran, inputs: { ...inputs, address } }).checks;
  const sent = /"requestState":("[^"]*")/.exec(reported?.curl ?? '')?.[1] ?? '';
  const given = (reported?.conversation?.events ?? []).map((event) => JSON.stringify(event));
  const answers = given.filter((event) => event.includes('"from":"server"')).join();
  expect(given.join()).toContain(sent);
  expect(answers).not.toContain(sent);
});

test.concurrent('a server that rightly does not ask, but answers with a wrong error, gets a finding about that error', async () => {
  const refusing = when(unaskable, refuses(-32600));
  const [found] = (await checkTwisted(refusing, ['capability.undeclared'])).checks;
  expect(found).toMatchObject({
    verdict: 'fail',
    remedy: expect.stringMatching(/^The server rightly does not ask/),
  });
});

test('the probe is read once between two rejected attempts', async () => {
  let readings = 0;
  const counting: Twist = (sent, honest) => {
    if (sent.params.name === 'count') readings++;
    return honest();
  };
  const [tampered] = (await checkTwisted(counting, ['state.tampered'])).checks;
  const [, attempts] = /^(\d+) of \1 rejected/.exec(tampered?.actual ?? '') ?? [];
  expect(Number(attempts)).toBeGreaterThan(20);
  // Each round begins with one, and the run and its controls read it too.
  expect(readings).toBeLessThan(1.6 * Number(attempts));
});
