/** What the checker finds on the options, and why each finding is as it should be. */
import type { Verdict } from '@mrtr/check';
import type { SubjectName } from './measure.ts';

export type Findings = Readonly<Record<string, Verdict>>;

const PARKED: Findings = {
  'instance.second': 'advice',
  'instance.restart': 'advice',
  'deploy.survives': 'advice',
  'deploy.returns': 'advice',
  'abandon.flat': 'advice',
};
const AUDITED_FIRST: Findings = { 'effect.before-answer': 'advice' };
const REPEATED: Findings = {
  'refusal.no-effect': 'fail',
  'effect.before-answer': 'advice',
  'effect.once': 'advice',
  'effect.per-round': 'advice',
};
const REPLAYED: Findings = {
  'retry.twice': 'fail',
  'retry.concurrent': 'fail',
  'retry.lost-response': 'fail',
  'answer.unasked': 'advice',
  'refusal.rounds-bounded': 'advice',
  'instance.replay-elsewhere': 'fail',
  'deploy.replay': 'fail',
};
const UNSEALED: Findings = {
  ...REPLAYED,
  'state.forged': 'fail',
  'state.aliased': 'advice',
  'state.other-arguments': 'warn',
  'state.other-principal': 'warn',
  'state.rolled-back': 'fail',
  'state.expired': 'warn',
  'state.oracle': 'advice',
  'state.readable': 'advice',
  'answer.other-round': 'warn',
};

type ByTool = Readonly<Partial<Record<SubjectName, Findings>>>;

export const EXPECTED: Readonly<Record<string, ByTool>> = {
  b: { get_weather: REPEATED },
  'e-naive': { get_weather: REPEATED },
  'e-bare': { get_weather: REPLAYED, resolve_work_item: UNSEALED },
  f: { get_weather: AUDITED_FIRST },
  h: { get_weather: { ...PARKED, ...AUDITED_FIRST }, resolve_work_item: PARKED },
  'h-postgres': {
    get_weather: { ...AUDITED_FIRST, 'abandon.flat': 'advice' },
    resolve_work_item: { 'abandon.flat': 'advice' },
  },
  j: { get_weather: AUDITED_FIRST },
};

export interface Reason {
  readonly options: readonly string[];
  readonly ids: readonly string[];
  readonly why: string;
}

export const REASONS: readonly Reason[] = [
  {
    options: ['f', 'h', 'h-postgres', 'j'],
    ids: Object.keys(AUDITED_FIRST),
    why:
      'The audit entry is written before the question, on purpose: `ctx.once`, the journal, or a handler that is entered ' +
      'once keeps it at one. The write of `resolve_work_item` comes last in every option.',
  },
  {
    options: ['h'],
    ids: ['instance.second', 'instance.restart', 'deploy.survives', 'deploy.returns'],
    why:
      'The handler waits in the memory of one process. Another process refuses the call and says why; H needs routing ' +
      'that keeps a call at its process, or its store on PostgreSQL. A deploy ends its calls.',
  },
  {
    options: ['h', 'h-postgres'],
    ids: ['abandon.flat'],
    why:
      'A call that waits holds memory, or a row. So each principal may leave about a hundred open; the next one is ' +
      'refused with a reason, and other principals are served.',
  },
  {
    options: ['b', 'e-naive'],
    ids: Object.keys(REPEATED),
    why:
      'The effect stands above the question, and runs again in each round, so also in the round that brings the ' +
      'refusal. That is what these two options are there to show.',
  },
  {
    options: ['e-bare'],
    ids: Object.keys(UNSEALED),
    why:
      'No boundary: the state is plain JSON, nothing remembers a used approval, and an answer counts without its ' +
      'question. That is what most servers have today.',
  },
];
