/**
 * `@mrtr/comparison/demo`: what `pnpm demo` runs. The `demo.ts` in a demo's folder exports one as `demo`; the
 * package.json beside it has its title, and the flags that it takes. The options share the one in this file.
 */
import type { Reply } from '@mrtr/harness';
import type { Participant, Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import { findScript, type Subject, type SubjectCall } from './calls.ts';
import { GET_WEATHER, RESOLVE_WORK_ITEM } from './index.ts';

/** The kinds of answers that a scripted user gives. Each demo says its own answer of each kind. */
export type AnswerKind = 'metric' | 'imperial' | 'decline' | 'cancel' | 'nonsense';

/** The effect that a tool must have once per call. */
export type CountedEffect = 'audit' | 'write';

/** A call, the user who answers its questions, and the effect that it must have once. */
export interface DemoCall extends Pick<SubjectCall, 'call' | 'user' | 'model' | 'roots'> {
  readonly effect?: CountedEffect;
}

/** Subjects that all get the same calls. */
export interface Demo {
  /** One, or one for each shape. */
  readonly subjects: readonly Subject[];
  /** Makes new ones, because a scripted user remembers earlier questions. `tool`: which tool of an option. */
  calls(answer: AnswerKind, tool: 'weather' | 'work-item'): readonly DemoCall[];
}

/** A demo that shows more than its calls. */
export interface DrawnDemo {
  draw(screen: Screen, shape?: string): Promise<void>;
}

/** Where a demo is drawn. */
export interface Screen {
  paint(role: 'title' | 'frame' | 'quiet' | 'effect', text: string): string;
  /** Breaks a text into lines that fit. */
  wrap(text: string): readonly string[];
  print(lines: readonly string[]): void;
  /** Makes a call, and draws it. `people` are drawn before their first event says who they are. */
  drawCall(makeCall: MakeCall, effect: CountedEffect, people: readonly Participant[]): Promise<Transcript>;
}

/** Makes one call; `onEvent` gets its events. */
export type MakeCall = (onEvent: (event: TranscriptEvent) => void) => Promise<Transcript>;

type Replies = readonly (Reply | string | boolean | number)[];

/** The replies to a question, of each kind. A nonsensical one is followed by the first. */
export const replies = (
  metric: Replies[number],
  imperial: Replies[number],
  nonsense: Replies[number],
): Readonly<Record<AnswerKind, Replies>> => ({
  metric: [metric],
  imperial: [imperial],
  decline: [{ action: 'decline' }],
  cancel: [{ action: 'cancel' }],
  nonsense: [nonsense, metric],
});

/** The scripts of the work item tool. Those of the weather tool have the names of the answers. */
const WORK_ITEM: Readonly<Record<AnswerKind, string>> = {
  metric: 'duplicate',
  imperial: 'fixed',
  decline: 'decline',
  cancel: 'cancel',
  nonsense: 'nonsense',
};

export const demoOfOption = (subject: Subject): Demo => ({
  subjects: [subject],
  calls(answer, tool) {
    const isWeather = tool === 'weather';
    const script = isWeather
      ? findScript(answer, GET_WEATHER)
      : findScript(WORK_ITEM[answer], RESOLVE_WORK_ITEM);
    return [{ call: script.call, user: script.user(), effect: isWeather ? 'audit' : 'write' }];
  },
});
