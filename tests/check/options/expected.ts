/** The expected findings on each option, with the reason. */
import { advice, type Found, fail, warn } from '../bare.test-support.ts';

export const TOOLS = ['get_weather', 'resolve_work_item'] as const;
export type SubjectName = (typeof TOOLS)[number];

const ONE_PROCESS = ['instance.second', 'instance.restart', 'deploy.survives', 'deploy.returns'];
const PARKED = advice(...ONE_PROCESS);
const AUDITED_FIRST = advice('effect.before-answer');
const REPEATED: Found = {
  ...fail('refusal.no-effect'),
  ...advice('effect.before-answer', 'effect.once', 'effect.per-round'),
};
const REPLAYED: Found = {
  ...fail(
    'retry.twice',
    'retry.concurrent',
    'retry.lost-response',
    'retry.other-answers',
    'instance.replay-elsewhere',
    'deploy.replay',
  ),
  ...advice('answer.unasked', 'refusal.rounds-bounded', 'form.rounds'),
};
const UNSEALED: Found = {
  ...REPLAYED,
  ...fail('state.forged', 'state.rolled-back'),
  ...warn('state.other-arguments', 'state.other-principal', 'state.expired', 'answer.other-round'),
  ...advice('state.aliased', 'state.oracle', 'state.readable'),
};

type ByTool = Readonly<Partial<Record<SubjectName, Found>>>;

export const EXPECTED: Readonly<Record<string, ByTool>> = {
  b: { get_weather: REPEATED },
  'e-naive': { get_weather: REPEATED },
  'e-bare': { get_weather: REPLAYED, resolve_work_item: UNSEALED },
  f: { get_weather: AUDITED_FIRST },
  h: { get_weather: { ...PARKED, ...AUDITED_FIRST }, resolve_work_item: PARKED },
  'h-postgres': { get_weather: AUDITED_FIRST },
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
    why: 'The audit entry is written once, before the question, on purpose.',
  },
  {
    options: ['h'],
    ids: ONE_PROCESS,
    why: 'The handler waits in the memory of one process.',
  },
  {
    options: ['b', 'e-naive'],
    ids: Object.keys(REPEATED),
    why: 'The effect stands above the question, and runs again in each round.',
  },
  {
    options: ['e-bare'],
    ids: Object.keys(UNSEALED),
    why: 'The state is plain JSON, nothing remembers a used approval, and an answer counts without its question.',
  },
];
