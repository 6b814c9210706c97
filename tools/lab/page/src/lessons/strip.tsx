/** The strip above the two sides with the current live lesson. */
import { useEffect } from 'preact/hooks';
import { LESSONS, type Lesson } from '../../../src/lessons.ts';
import type { OpenLive } from '../live/connection.ts';
import { readCall } from './marks.ts';
import { linkLive, Marks } from './page.tsx';
import { isSolved, meet, useKept } from './progress.ts';

interface StripProps {
  readonly lesson: Lesson;
  readonly live: OpenLive;
}

export function LessonStrip({ lesson, live }: StripProps) {
  const { id, title, task, hint } = lesson;
  const { left, right } = live.sides;
  useKept();
  useEffect(() => {
    for (const { setUp, conversation } of [left, right])
      if (conversation.end) meet(id, readCall(setUp, conversation));
  }, [id, left.conversation, right.conversation]);
  const at = LESSONS.indexOf(lesson);
  const next = LESSONS[at + 1];
  const nextByHand = next && linkLive(live, next);
  const solved = isSolved(id);
  return (
    <section class={`lesson ${solved ? 'solved' : ''}`} aria-label={`Lesson: ${title}`}>
      <p class="task">
        {at + 1}. {task}
      </p>
      <div class="progress">
        <Marks id={id} />
        {solved ? (
          <p role="status">
            <b>Solved.</b>{' '}
            {nextByHand ? <a {...nextByHand}>Next: {next.title}</a> : <a href="#/lessons">All lessons</a>}
          </p>
        ) : (
          <details>
            <summary>Hint</summary>
            <p>{hint}</p>
          </details>
        )}
      </div>
    </section>
  );
}
