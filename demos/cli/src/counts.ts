/** What a conversation comes to, in numbers. */
import { isMrtrMethod } from '@mrtr/core';
import type { Conversation, Transcript, TranscriptEvent, WireMessage } from '@mrtr/harness';
import { isQuestion, type JsonObject, objectIn } from './wire-text.ts';

/** The numbers of one logical call. */
export interface Counts {
  /** Requests that the client made. */
  readonly rounds: number;
  /** Entries into the author's function. */
  readonly entries: number;
  /** Questions that the user was shown. */
  readonly questions: number;
  readonly audits: number;
  readonly writes: number;
  /** Questions sent down a stream that the call held open: only old clients are asked so. */
  readonly liveAsks: number;
  /** Characters of `requestState` in each `input_required` result, 0 where there was none. */
  readonly stateBytes: readonly number[];
}

/** Counts what is in a transcript. */
export function count(transcript: Transcript): Counts {
  const of = (kind: TranscriptEvent['kind']) => transcript.filter((event) => event.kind === kind).length;
  const sent = (from: 'client' | 'server'): WireMessage[] =>
    transcript.flatMap((event) => (event.kind === 'wire' && event.from === from ? [event.message] : []));
  const asking = sent('server')
    .map((message): JsonObject => objectIn(message, 'result'))
    .filter((result) => result.resultType === 'input_required');
  return {
    rounds: sent('client').filter((message) => isMrtrMethod(message.method)).length,
    entries: of('entry'),
    questions: of('user'),
    audits: of('audit'),
    writes: of('write'),
    liveAsks: sent('server').filter(isQuestion).length,
    stateBytes: asking.map(({ requestState }) =>
      typeof requestState === 'string' ? requestState.length : 0,
    ),
  };
}

/** The effect that a tool must have once per call; the two start-here demos leave none that can be counted. */
export type CountedEffect = 'audits' | 'writes' | undefined;

/** `2 rounds · handler entered 2× · audit written 1× · nothing held between rounds`. */
export function closingLine(
  { transcript, framesHeld }: Pick<Conversation, 'transcript' | 'framesHeld'>,
  effect: CountedEffect,
): string {
  const { rounds, entries, audits, writes, liveAsks } = count(transcript);
  return [
    plural(rounds, 'round'),
    `handler entered ${entries}×`,
    ...(effect === 'audits' ? [`audit written ${audits}×`] : []),
    ...(effect === 'writes' ? [`item written ${writes}×`] : []),
    held(framesHeld, liveAsks),
  ].join(' · ');
}

function held(frames: number, liveAsks: number): string {
  const frame = plural(frames, 'frame');
  if (liveAsks > 0) return frames > 0 ? `a stream and ${frame} held open` : 'a stream held open';
  return `${frames > 0 ? frame : 'nothing'} held between rounds`;
}

const plural = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`;
