import { expect, test } from 'vitest';
import { Writer } from './writer.ts';

const HOSTILE = 'pay\u001b]52;c;b3duZWQ=\u0007\u009b2J\u202e\r\n\u001b[31m';

test('a stranger’s text cannot command the terminal, and painted text can only colour it and clear a line', () => {
  const written: string[] = [];
  const writer = new Writer({ write: (text) => written.push(text) });
  writer.write(HOSTILE);
  writer.writePainted(`\r\u001b[2K${HOSTILE}`);
  const escaped = 'pay\\u{1b}]52;c;b3duZWQ=\\u{7}\\u{9b}2J\\u{202e}\\r\n';
  expect(written).toEqual([`${escaped}\\u{1b}[31m`, `\r\u001b[2K${escaped}\u001b[31m`]);
});
