/** A client's report of its call, and its text in the table. */
import type { Wire } from './wire.ts';

/** The output of a client's program: whether its user was asked, and the result. */
export interface Report {
  readonly asked: boolean;
  readonly got?: string;
  readonly error?: string;
}

export interface Measurement {
  readonly revision: string;
  readonly question: string;
  readonly got: string;
}

/** The temperature that only the answer "imperial" gives. */
const IMPERIAL = '72°F';

/** Combines the client's report and the recorded messages. */
export const measurementOf = (report: Report, wire: Wire): Measurement => ({
  revision: wire.revision,
  question: questionWord(report, wire),
  got: gotWord(report),
});

function questionWord({ asked }: Report, wire: Wire): string {
  if (asked) return 'arrived';
  if (wire.asks) return 'sent, not shown';
  return wire.declares ? 'not sent' : 'not declared';
}

/** The result in a word: the answered question, the default, or the text or error in one short line. */
function gotWord({ got = '', error }: Report): string {
  if (error !== undefined) return `error: ${clipped(error)}`;
  if (got.includes(IMPERIAL)) return `${IMPERIAL}, as answered`;
  return got.includes('22°C') ? '22°C, the default' : clipped(got);
}

/** Whether the user got a weather report, for the answer or for the default. */
export const isWell = ({ got }: Measurement): boolean => /^(72°F|22°C)/.test(got);

const LENGTH = 120;

/** One line for a table, without paths and ports of this run; for an error in JSON, its message. */
function clipped(text: string): string {
  const [, message = text] = /"message":"([^"]+)"/.exec(text) ?? [];
  const line = message
    .replaceAll(/(?:\/[\w.@+-]+){2,}/g, '…')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1')
    .replaceAll('|', '\\|')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > LENGTH ? `${line.slice(0, LENGTH)}…` : line;
}
