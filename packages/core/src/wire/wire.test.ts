import { expect, test } from 'vitest';
import { isMrtrMethod, MRTR_METHODS } from './wire.ts';

test('exactly three methods may answer input_required', () => {
  const methods = [
    'tools/call',
    'prompts/get',
    'resources/read',
    'tools/list',
    'initialize',
    '',
    'Tools/Call',
  ];
  expect(methods.filter(isMrtrMethod)).toEqual(MRTR_METHODS);
  for (const value of [undefined, null, 0, ['tools/call']]) expect(isMrtrMethod(value)).toBe(false);
});
