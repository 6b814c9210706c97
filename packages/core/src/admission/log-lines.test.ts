/** What an operator's log gets: one line for each error, which names its call and its caller. */
import { expect, test } from 'vitest';
import { derivePseudonym } from '../state/at-rest.ts';
import { KEY } from '../state/sealed.test-support.ts';
import { REFUSAL_REASONS } from '../support/refusal-reasons.ts';
import { asking, beginCall } from './asking.test-support.ts';
import { eventsOf, hostTools } from './hosted.test-support.ts';

const ALICE = derivePseudonym('alice', KEY);
const options = (onerror: (error: Error) => void, now = Date.now) => ({
  keys: ['k'.repeat(32)],
  principal: () => 'alice',
  onerror,
  now,
});

test('a refusal names its call, its tool and the pseudonym of its caller, and is counted', async () => {
  const errors: Error[] = [];
  let late = 0;
  const now = () => Date.now() + late;
  const [refusals, rounds] = [eventsOf('mrtr:refusal'), eventsOf('mrtr:round')];
  const site = hostTools(
    asking([]),
    options((error) => errors.push(error), now),
  );
  const retry = await beginCall(site);
  late = 600_000;
  await site.post('tools/call', { ...retry, inputResponses: {} });
  await site.post('tools/call', { ...retry, requestState: 'cut' });
  const call = rounds[0]?.call;
  expect(errors.map(({ message }) => message)).toEqual([
    `requestState rejected: expired [call ${call}, caller ${ALICE}, tools/call deploy]`,
    `requestState rejected: malformed [call unknown, caller ${ALICE}, tools/call deploy]`,
  ]);
  expect(errors.map(String)).toEqual(errors.map(({ stack }) => stack?.split('\n')[0]));
  expect(errors[0]).toMatchObject({ code: 'request_state_rejected', reason: 'expired' });
  const about = { method: 'tools/call', target: 'deploy' };
  expect(refusals).toEqual([
    { reason: 'expired', call, ...about },
    { reason: 'malformed', call: undefined, ...about },
  ]);
  expect(refusals.every(({ reason }) => Object.hasOwn(REFUSAL_REASONS, reason))).toBe(true);
});

test('a tool’s name cannot forge a line of the log', async () => {
  const errors: Error[] = [];
  const site = hostTools(
    asking([]),
    options((error) => errors.push(error)),
  );
  const forged = 'x] [call a, caller b, tools/call c]\nError: paid \u2028\u0085\u001b[2K\u202e';
  await site.post('tools/call', { name: forged, arguments: {}, requestState: 'v1.x' }, { legacy: true });
  expect(errors).toHaveLength(1);
  const [line, second = ''] = String(errors[0]?.stack).split(/[\n\r\u2028\u2029\u0085]/);
  const shown = String.raw`x\u{5d} \u{5b}call a, caller b, tools/call c\u{5d}\u{a}Error: paid \u{2028}\u{85}\u{1b}\u{5b}2K`;
  expect(line).toContain(`[call unknown, caller ${ALICE}, tools/call ${shown}`);
  expect(line?.match(/[[\]]/g)).toEqual(['[', ']']);
  expect(second).toMatch(/^ {4}at /);
});
