import { Deferred } from '@mrtr/harness/internal';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { as } from '../admission/asking.test-support.ts';
import { hostTools } from '../admission/hosted.test-support.ts';
import { InvalidOption } from '../errors.ts';
import { textResult } from '../results.ts';
import { publish } from './events.ts';
import { watchRunningCalls } from './running-calls.ts';

test('a handler that hangs in its first round is listed, also when its client has gone, and none that has ended', async () => {
  const running = watchRunningCalls();
  onTestFinished(running.stop);
  const gone = new AbortController();
  const [entered, hung] = [new Deferred(), new Deferred()];
  const { post } = hostTools((server) => {
    server.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, async () => {
      entered.open();
      await hung.promise;
      return textResult('Done.');
    });
  });
  const params = { name: 'deploy', arguments: { env: 'a secret' } };
  const reply = post('tools/call', params, { ...as('ada'), signal: gone.signal }).catch(() => undefined);
  await entered.promise;
  gone.abort();
  expect(running.list()).toEqual([
    {
      call: expect.stringMatching(/^[\w-]{22}$/),
      method: 'tools/call',
      target: 'deploy',
      round: 1,
      since: expect.any(Date),
      pseudonym: expect.stringMatching(/^[\w-]{22}$/),
    },
  ]);
  expect(JSON.stringify(running.list())).not.toContain('secret');
  hung.open();
  await reply;
  await expect.poll(() => running.list()).toEqual([]);
});

test('the list is bounded, keeps the oldest, and shows a request that is served twice until both have ended', () => {
  const running = watchRunningCalls(1);
  const publishRound = (phase: 'start' | 'end', call: string) =>
    publish('mrtr:round', { phase, call, method: 'tools/call', target: 'deploy', round: 1 });
  const listCalls = () => running.list().map(({ call }) => call);
  for (const call of ['one', 'two', 'one']) publishRound('start', call);
  expect(listCalls()).toEqual(['one']);
  for (const call of ['two', 'one']) publishRound('end', call);
  expect(listCalls()).toEqual(['one']);
  publishRound('end', 'one');
  expect(listCalls()).toEqual([]);
  running.stop();
  publishRound('start', 'three');
  expect(listCalls()).toEqual([]);
  for (const most of [0, { maxCalls: 5 } as never])
    expect(() => watchRunningCalls(most)).toThrow(InvalidOption);
});
