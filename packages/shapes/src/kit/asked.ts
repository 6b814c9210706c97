/** Reads the answers to the questions that a step or a resolver returned. */

import { type AnswerOf, type Answers, isRefusal, type Question, type Questions } from '@mrtr/core';
import { isQuestion, isQuestions } from '@mrtr/core/internal';
import type { FinalAnswer } from '@mrtr/core/shape';
import type { Recall } from './recall.ts';
import { wireKey } from './wire-key.ts';

/** The data of a step, or the value of a resolver, whose function returns `R`: the accepted answers, or what it returned. */
export type AskedFor<R> = R extends Question ? AnswerOf<R> : R extends Questions ? Answers<R> : R;

/** The answers to the questions of one step or resolver. */
export interface Asked {
  /** The accepted answer, or the accepted answers by key. */
  readonly value: unknown;
  /** The first refusal, and the key of its question on the wire. */
  readonly refused: readonly [wireKey: string, refusal: FinalAnswer<unknown>] | undefined;
  /** The questions without an answer, by their keys on the wire. */
  readonly open: Questions;
}

/** Reads the answers to what the step or resolver `name` returned. Undefined if it returned data. */
export function readAsked(recall: Recall, name: string, returned: unknown): Asked | undefined {
  const isSingle = isQuestion(returned);
  if (!isSingle && !isQuestions(returned)) return undefined;
  const accepted: [key: string, value: unknown][] = [];
  const open: [wireKey: string, Question][] = [];
  let refused: Asked['refused'];
  for (const [key, question] of Object.entries(isSingle ? { [name]: returned } : returned)) {
    const wire = isSingle ? wireKey(name) : wireKey(name, key);
    const answer = recall.read(wire, question);
    if (answer.kind === 'accepted') accepted.push([key, answer.value]);
    else if (isRefusal(answer)) refused ??= [wire, answer];
    else open.push([wire, question]);
  }
  const value = isSingle ? accepted[0]?.[1] : Object.fromEntries(accepted);
  return { value, refused, open: Object.fromEntries(open) };
}
