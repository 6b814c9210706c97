/** The lesson that is being taken, above the two sides. */
import type { Live } from '../live/connection.ts';
import { LESSONS } from './lessons.ts';
import { beginning } from './page.tsx';
import { isMet, isSolved, useProgress } from './progress.ts';

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
  const solved = isSolved(id);
  return (
    <section class={`lesson ${solved ? 'solved' : ''}`} aria-label={`Lesson: ${lesson.title}`}>
      <p>
        <span class="task">
          {at + 1}. {lesson.task}
        </span>{' '}
        {lesson.idea}
      </p>
      <div class="marks">
        <ul>
          {lesson.marks.map(([mark, words]) => (
            <li key={mark} class={isMet(id, mark) ? 'met' : ''}>
              <span aria-hidden="true">{isMet(id, mark) ? '✓' : '○'}</span> {words}
              <span class="unseen">{isMet(id, mark) ? ' (done)' : ' (open)'}</span>
            </li>
          ))}
        </ul>
        {solved ? (
          <p role="status">
            <b>Solved.</b>{' '}
            {next ? (
              <a {...beginning(live, next)}>Next: {next.title}</a>
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
