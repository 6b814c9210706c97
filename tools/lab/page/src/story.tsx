/** A recorded lesson: it stops at the fork, and continues after the choice. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { branchId, type Lesson } from '../../src/lessons.ts';
import type { TranscriptSoFar } from '../../src/protocol.ts';
import { SIDES } from '../../src/set-up.ts';
import { useRecorded } from './recorded.ts';
import { type PageProps, PLAIN_VIEW, viewing } from './route.ts';
import { beatsOf } from './viewer/model.ts';
import { Viewer } from './viewer/viewer.tsx';

interface StoryProps extends PageProps {
  readonly lesson: Lesson;
  /** Set if it plays at once. */
  readonly plays?: boolean;
  /** Called with the transcripts of a choice, when the visitor has seen them to the end. */
  readonly onEnd?: ((transcripts: readonly TranscriptSoFar[]) => void) | undefined;
}

/** The question to the visitor, and the two sides up to the fork or beyond it. */
export function Story({ lesson, route, go, plays = false, onEnd }: StoryProps) {
  const { choice, view } = route;
  const known = lesson.choices.find(({ id }) => id === choice);
  const names = SIDES.map((side) => branchId(lesson.id, (known ?? lesson.choices[0])?.id ?? '', side));
  const { id, values, problem } = useRecorded(names);
  const pair = id === names.join() ? values : undefined;
  const [pressed, setPressed] = useState(plays);
  const after = useRef<HTMLButtonElement>(null);
  const isOver = view.step === undefined;
  useEffect(() => {
    if (known && pair && isOver) onEnd?.(pair.map(({ transcript }) => transcript));
  }, [known, pair, isOver]);
  useEffect(() => {
    // The pressed button is gone, so focus its replacement.
    if (pressed && !plays) after.current?.focus();
  }, [pressed]);
  const sides = pair?.map(({ transcript, insides }, at) => {
    const conversation = known ? transcript : untilFork(transcript, lesson.fork);
    const head = (
      <>
        <h2>{transcript.title}</h2>
        <span class="about">{lesson.captions[at]}</span>
      </>
    );
    return { conversation, insides, head };
  });
  const choose = (id: string) => {
    const fork = pair?.map(({ transcript }) => untilFork(transcript, lesson.fork)) ?? [];
    const beats = beatsOf(fork, 'rounds').length;
    setPressed(true);
    go({ ...route, choice: id, view: { ...PLAIN_VIEW, step: Math.max(0, beats - 1) } }, true);
  };
  return (
    <>
      <section class={`fork ${known ? 'chosen' : ''}`} aria-label="Your choice">
        <p>
          {known && `${lesson.question} `}
          <b>{known ? known.words : lesson.question}</b>
        </p>
        {known ? (
          <button
            type="button"
            class="button"
            ref={after}
            onClick={() => {
              setPressed(false);
              go({ ...route, choice: undefined, view: { ...view, step: undefined } }, true);
            }}
          >
            Choose again
          </button>
        ) : (
          <div class="choices">
            {lesson.choices.map(({ id, words }) => (
              <button
                key={id}
                type="button"
                class="button primary"
                disabled={!pair}
                onClick={() => choose(id)}
              >
                {words}
              </button>
            ))}
          </div>
        )}
      </section>
      {sides ? (
        <Viewer
          sides={sides}
          {...viewing({ route, go })}
          plays={known !== undefined && pair !== undefined && pressed}
        />
      ) : (
        <p class="quiet" role="status">
          {problem ? 'This is being recorded; it takes some seconds …' : 'Loading …'}
        </p>
      )}
    </>
  );
}

/** The events before the fork, which all choices share. */
function untilFork(conversation: TranscriptSoFar, questions: number) {
  const { end, ...begun } = conversation;
  let asked = 0;
  const at =
    questions === 0
      ? 0
      : conversation.events.findIndex(({ kind }) => kind === 'question' && ++asked === questions) + 1;
  return { ...begun, events: conversation.events.slice(0, at) };
}
