/** Effects that the author names by their lines: each run of such a line is an effect of the conversation. */
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import { keepLines } from '../../../src/lines.ts';
import type { TranscriptSoFar } from '../../../src/protocol.ts';

/** A file whose lines have effects, and its text. */
export interface Named {
  readonly file: string;
  readonly text: string;
  readonly lines: readonly number[];
}

/** A file whose lines the user can name as effects. */
export interface Nameable extends Named {
  readonly onName: (line: number) => void;
}

/** The text of a line without what opens or ends it, and if it is long, without its last words. */
function shorten(text: string) {
  const bare = text.trim().replace(/[\s;,({[]+$/, '');
  return bare.length > MAX_LENGTH ? `${bare.slice(0, MAX_LENGTH).replace(/\W+\w*$/, '')}…` : bare;
}

const MAX_LENGTH = 60;

/** The conversation with an effect after each run of a named line. */
export function withEffects<Of extends TranscriptSoFar>(conversation: Of, { file, text, lines }: Named): Of {
  if (lines.length === 0) return conversation;
  const texts = text.split('\n');
  const events = conversation.events.flatMap((event): TranscriptEvent[] => {
    if (event.kind !== 'lines' || !event.order) return [event];
    const { at, instance, order } = event;
    let from = 0;
    const linesTo = (to: number) => {
      const part = order.slice(from, to);
      from = to;
      return part.length > 0 ? [{ ...event, files: keepLines(event.files, part), order: part }] : [];
    };
    const named = order.flatMap(([of, line], place): TranscriptEvent[] => {
      if (of !== file || !lines.includes(line)) return [];
      // Lines may have the same text.
      const effect = { name: `line ${line}`, detail: shorten(texts[line - 1] ?? '') };
      return [...linesTo(place + 1), { kind: 'effect', ...effect, at, instance }];
    });
    return [...named, ...linesTo(order.length)];
  });
  return { ...conversation, events };
}
