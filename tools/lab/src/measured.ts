/** The lab's measured table: the matrix's table, with recordings that prove each cell. */

import type { Measured as MeasuredOption } from '@mrtr/comparison/calls';
import { measure, optionsTable, TABLED } from '@mrtr/matrix';

interface Column {
  readonly question: string;
  /** Short answers, by the beginning of the matrix's text. Without a match, the matrix's own text. */
  readonly answers: Readonly<Record<string, string>>;
  /** The beginning of texts that warn a reader. Default: texts in bold. */
  readonly trap?: string;
  /** The situations of `situations.ts` that prove the cell. */
  readonly proofs: readonly string[];
}

const FINISHES = { finishes: 'yes', rejected: 'no: the call is lost' };
const GIVES = { fallback: 'the fallback', error: 'an error' };

/** The columns, in the matrix's order. */
const COLUMNS: readonly Column[] = [
  {
    question: 'Does the function that writes run again?',
    answers: { '1× / 1×': 'no', '': 'yes, in every round' },
    proofs: ['one', 'two'],
  },
  {
    question: 'How often was the audit record written?',
    answers: { 2: 'twice', 1: 'once' },
    proofs: ['one'],
  },
  {
    question: 'What does the client carry?',
    answers: { none: 'plain text', '': 'sealed state' },
    proofs: ['one', 'two'],
  },
  { question: 'What waits in memory?', answers: { 1: 'the handler', 0: 'nothing' }, proofs: ['one'] },
  { question: 'Can another instance take the answer?', answers: FINISHES, proofs: ['fleet', 'fleet-two'] },
  { question: 'Does a call outlive a restart?', answers: FINISHES, proofs: ['restart'] },
  {
    question: 'What does an old client get?',
    answers: { asked: 'asked, in a session', 'asked by the shim': 'the shim asks, or the fallback' },
    proofs: ['old', 'old-degrade', 'old-fleet'],
  },
  { question: 'And a client that cannot be asked?', answers: GIVES, proofs: ['unaskable'] },
  {
    question: 'Can one approval write twice?',
    answers: { '1 (1': 'no', 1: 'only with single use off', 2: 'yes' },
    trap: '2',
    proofs: ['twice-single', 'twice'],
  },
  {
    question: 'Does it believe an answer nobody asked for?',
    answers: { rejected: 'no', taken: 'yes' },
    proofs: ['unasked', 'other-state'],
  },
];

export const QUESTIONS = COLUMNS.map(({ question }) => question);

/** The cells of an option, in the order of the questions. */
export async function measureRow(option: MeasuredOption) {
  const [[, ...titles] = [], [, ...texts] = []] = optionsTable([option], await measure(option, TABLED));
  if (titles.length !== COLUMNS.length)
    throw new Error('The matrix has other columns than the lab has questions.');
  return COLUMNS.map(({ answers, proofs, trap }, at) => {
    const text = texts[at] ?? '';
    const plain = text.replaceAll('**', '');
    const beginning = Object.keys(answers).filter((one) => plain.startsWith(one));
    const [longest = ''] = beginning.sort((one, other) => other.length - one.length);
    return {
      answer: answers[longest] ?? plain,
      text: plain,
      bad: trap === undefined ? text.includes('**') || text === 'rejected' : plain.startsWith(trap),
      proofs: proofs.map((situation) => `${option.id}.${situation}`),
    };
  });
}
