/** The expected result of a request to the two example tools: a model, written from their descriptions. */
import type { AuditClaim } from '@mrtr/option';
import { type Asked, type Verdict, verdict } from './hostile-answers.ts';

export type ToolCall =
  | { readonly tool: 'get_weather'; readonly location: string }
  | { readonly tool: 'resolve_work_item'; readonly id: number };

/** How far a call is: the question that its state was minted with, or `fresh` without state. */
export type Stage = 'fresh' | Asked;

export interface Expected {
  /** The key of the question that goes out, or the text of the result. */
  readonly end: { readonly asks: Asked } | { readonly says: string };
  readonly audits: number;
  readonly writes: number;
}

type Answers = Readonly<Record<string, unknown>> | undefined;

/** The result of a request with honest state. Only the answer to the latest question counts. */
export function expected(call: ToolCall, stage: Stage, answers: Answers, audit: AuditClaim): Expected {
  const answer = (asked: Asked): Verdict => (stage === asked ? verdict(answers, asked) : 'nothing');
  return call.tool === 'get_weather'
    ? weather(call.location, stage, answer('units'), audit)
    : workItem(call.id, stage, answer);
}

function weather(location: string, stage: Stage, answer: Verdict, audit: AuditClaim): Expected {
  const before = audit === 'every-entry' || (audit === 'before-asking' && stage === 'fresh') ? 1 : 0;
  const after = audit === 'after-answer' ? 1 : 0;
  if (answer === 'nothing') return { end: { asks: 'units' }, audits: before, writes: 0 };
  if (answer === 'refused') return { end: { says: cancelled('units') }, audits: before, writes: 0 };
  const temperature = answer.accepted === 'metric' ? '22°C' : '72°F';
  return {
    end: { says: `Weather in ${location}: ${temperature}, partly cloudy.` },
    audits: before + after,
    writes: 0,
  };
}

function workItem(id: number, stage: Stage, answer: (asked: Asked) => Verdict): Expected {
  // The state of the second question holds the answer to the first.
  const resolution = stage === 'original' ? { accepted: 'Duplicate' } : answer('resolution');
  if (resolution === 'nothing') return { end: { asks: 'resolution' }, audits: 0, writes: 0 };
  if (resolution === 'refused') return says(cancelled('resolution'));
  if (resolution.accepted !== 'Duplicate')
    return says(`#${id} resolved as ${String(resolution.accepted)}.`, 1);
  const original = answer('original');
  if (original === 'nothing') return { end: { asks: 'original' }, audits: 0, writes: 0 };
  if (original === 'refused') return says(cancelled('original'));
  if (original.accepted === id) return says(`#${id} cannot be a duplicate of itself.`);
  if (original.accepted !== 4301 && original.accepted !== 4522) {
    return says(`There is no work item #${String(original.accepted)}.`);
  }
  return says(`#${id} resolved as Duplicate of #${original.accepted}.`, 1);
}

const says = (text: string, writes = 0): Expected => ({ end: { says: text }, audits: 0, writes });

const cancelled = (key: string): string => `Cancelled: the question '${key}' was not answered.`;
