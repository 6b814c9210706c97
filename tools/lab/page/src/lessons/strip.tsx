/** The strip above the two sides with the current live lesson. */
import { LESSONS } from '../../../src/lessons.ts';
import type { Live } from '../live/connection.ts';
import { linkLive, Marks } from './page.tsx';
import { isSolved, useProgress } from './progress.ts';

interface StripProps {
  readonly id: string;
  readonly live: Extract<Live, { kind: 'open' }>;
}

export function LessonStrip({ id, live }: StripProps) {
  const { sides } = live;
  useProgress(id, sides);
  const at = LESSONS.findIndex((one) => one.id === id);
  const lesson = LESSONS[at];
  if (!lesson) return null;
  const next = LESSONS[at + 1];
  const nextByHand = next && linkLive(live, next);
  const solved = isSolved(id);
  return (
    <section class={`lesson ${solved ? 'solved' : ''}`} aria-label={`Lesson: ${lesson.title}`}>
      <p class="task">
        {at + 1}. {lesson.task}
      </p>
      <div class="progress">
        <Marks id={id} />
        {solved ? (
          <p role="status">
            <b>Solved.</b>{' '}
            {next && nextByHand ? (
              <a {...nextByHand}>Next: {next.title}</a>
            ) : (
              <a href="#/lessons">All lessons</a>
            )}
          </p>
        ) : (
          <details>
            <summary>Hint</summary>
            <p>{lesson.hint}</p>
          </details>
        )}
      </div>
    </section>
  );
}
