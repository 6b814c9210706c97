import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { StateTooLarge } from '../errors.ts';
import { processWide } from '../process-wide.ts';
import { withCallInMessage } from './log-line.ts';
import { tellOperator } from './operator.ts';

const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
// Other files of tests run in the same process, before this one and after it.
const forgetKinds = () => processWide('kinds-of-error', () => new Set<string>()).clear();
beforeEach(() => {
  emitted.mockClear();
  forgetKinds();
});
afterAll(() => {
  emitted.mockRestore();
  forgetKinds();
});

test('every listener hears of an error, also when one before it throws, and nothing is warned of but that', () => {
  const heard: Error[] = [];
  const error = new Error('The ledger is gone.');
  const failing = () => {
    throw new Error('No log.');
  };
  tellOperator(error, failing, undefined, (told) => void heard.push(told));
  expect(heard).toEqual([error]);
  expect(emitted.mock.calls).toEqual([
    ['onerror threw Error: No log.. The error was: The ledger is gone.', { code: 'MRTR_ONERROR' }],
  ]);
});

test('without a listener, the first error of each kind is a warning', () => {
  const rejection = (reason: string) => Object.assign(new Error(`rejected: ${reason}`), { reason });
  const errors: Error[] = [
    rejection('expired'),
    rejection('malformed'),
    rejection('expired'),
    new StateTooLarge(2, 1),
  ];
  for (const [tool, seconds] of [
    ['pay', 10],
    ['deploy', 20],
  ]) {
    const error = new Error(`The handler of '${tool}' hangs for ${seconds} s.`);
    errors.push(withCallInMessage(error, { method: 'tools/call', target: `${tool}`, id: `${tool} 1` }));
  }
  for (const error of errors) tellOperator(error, undefined);
  const more = ' (Only the first of its kind is shown. Give an `onerror` to get all.)';
  expect(emitted.mock.calls).toEqual([
    [`rejected: expired${more}`, { code: 'MRTR_ERROR' }],
    [`rejected: malformed${more}`, { code: 'MRTR_ERROR' }],
    [expect.stringContaining('requestState would be 2 bytes'), { code: 'MRTR_ERROR' }],
    [
      `The handler of 'pay' hangs for 10 s. [call pay 1, caller anonymous, tools/call pay]${more}`,
      { code: 'MRTR_ERROR' },
    ],
  ]);
});

test('a client cannot have the process warn for ever', () => {
  for (let n = 0; n < 500; n++) tellOperator(new Error(`Nobody knows ${'x'.repeat(n)}.`));
  expect(emitted.mock.calls).toHaveLength(100);
});
