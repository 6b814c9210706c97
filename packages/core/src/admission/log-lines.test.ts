/** The operator's log gets one line for each error, with its call and its caller. */
import { expect, test } from 'vitest';
import { REJECTION_REASONS } from '../diagnostics/rejection-reasons.ts';
import { derivePseudonym } from '../state/at-rest.ts';
import { KEY } from '../state/sealed.test-support.ts';
import { asking, beginCall } from './asking.test-support.ts';
import { eventsOf, hostTools } from './hosted.test-support.ts';

const ALICE = derivePseudonym('alice', KEY);
/** A site of Alice, and the errors that its operator gets. */
function logging(now = Date.now) {
  const errors: Error[] = [];
  const onerror = (error: Error) => void errors.push(error);
  return { ...hostTools(asking([]), { principal: () => 'alice', onerror, now }), errors };
}

test('a rejection names its call, its tool and the pseudonym of its caller, and is counted', async () => {
  let late = 0;
  const [rejections, rounds] = [eventsOf('mrtr:rejection'), eventsOf('mrtr:round')];
  const { post, errors } = logging(() => Date.now() + late);
  const retry = await beginCall({ post });
  late = 600_000;
  await post('tools/call', { ...retry, inputResponses: {} });
  await post('tools/call', { ...retry, requestState: 'cut' });
  const call = rounds[0]?.call;
  expect(errors.map(({ message }) => message)).toEqual([
    `requestState rejected: expired [call ${call}, caller ${ALICE}, tools/call deploy]`,
    `requestState rejected: invalid (malformed) [call unknown, caller ${ALICE}, tools/call deploy]`,
  ]);
  expect(errors.map(String)).toEqual(errors.map(({ stack }) => stack?.split('\n')[0]));
  expect(errors[0]).toMatchObject({ code: 'request_state_rejected', reason: 'expired' });
  const about = { method: 'tools/call', target: 'deploy' };
  expect(rejections).toEqual([
    { reason: 'expired', call, ...about, bytes: retry.requestState.length },
    { reason: 'invalid', detail: 'malformed', call: undefined, ...about, bytes: 3 },
  ]);
  expect(rejections.every(({ reason }) => Object.hasOwn(REJECTION_REASONS, reason))).toBe(true);
});

test('a tool’s name cannot forge a line of the log', async () => {
  const { post, errors } = logging();
  const forged = 'x] [call a, caller b, tools/call c]\nError: paid \u2028\u0085\u001b[2K\u202e';
  await post('tools/call', { name: forged, arguments: {}, requestState: 'v1.x' }, { legacy: true });
  expect(errors).toHaveLength(1);
  const [line, second = ''] = String(errors[0]?.stack).split(/[\n\r\u2028\u2029\u0085]/);
  const shown = String.raw`x\u{5d} \u{5b}call a, caller b, tools/call c\u{5d}\u{a}Error: paid \u{2028}\u{85}\u{1b}\u{5b}2K`;
  expect(line).toContain(`[call unknown, caller ${ALICE}, tools/call ${shown}`);
  expect(line?.match(/[[\]]/g)).toEqual(['[', ']']);
  expect(second).toMatch(/^ {4}at /);
});
