/** What a client reports of its call, and how that is put in the table. */
import type { Wire } from './wire.ts';

/** What a client's program prints: whether its user was asked, and what the user got. */
export interface Report {
  readonly asked: boolean;
  readonly got?: string;
  readonly error?: string;
}

export interface Observation {
  readonly revision: string;
  readonly question: string;
  readonly got: string;
}

/** In the weather's answer to "imperial", and nowhere else. */
const IMPERIAL = '72°F';

/** Puts together what the client reported and what was on the wire. */
export const observed = (report: Report, wire: Wire): Observation => ({
  revision: wire.revision,
  question: questionWord(report, wire),
  got: gotWord(report),
});

function questionWord({ asked }: Report, wire: Wire): string {
  if (asked) return 'arrived';
  if (wire.asks) return 'sent, not shown';
  return wire.declares ? 'not sent' : 'not declared';
}

/** What the user got: the answered question, the default, or the text or error in one short line. */
function gotWord({ got = '', error }: Report): string {
  if (error !== undefined) return `error: ${clipped(error)}`;
  if (got.includes(IMPERIAL)) return `${IMPERIAL}, as answered`;
  return got.includes('22°C') ? '22°C, the default' : clipped(got);
}

/** Whether the user got what the tool can give: its answer, or its default. */
export const isWell = ({ got }: Observation): boolean => /^(72°F|22°C)/.test(got);

const LENGTH = 120;

/** One line that a table takes, without paths and ports of this run. Of an error in JSON, its message. */
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
