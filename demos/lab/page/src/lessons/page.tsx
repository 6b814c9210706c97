/** The lessons, all of them. */
import type { Live } from '../live/connection.ts';
import { hashOf, PLAIN_VIEW } from '../route.ts';
import { LESSONS, type Lesson } from './lessons.ts';
import './lessons.css';
import { isSolved } from './progress.ts';

/** A link that sets up both sides for a lesson. */
export const beginning = (live: Live, { id, setUps: [left, right] }: Lesson) => ({
  href: hashOf({ page: 'live', lesson: id, view: PLAIN_VIEW }),
  onClick: () => {
    if (live.kind !== 'open') return;
    void live.send({ do: 'set-up', side: 'left', setUp: left });
    void live.send({ do: 'set-up', side: 'right', setUp: right });
  },
});

export function Lessons({ live }: { readonly live: Live }) {
  return (
    <main class="text">
      <h2>Six lessons</h2>
      <p class="lead">
        One idea each, and a task that you solve by doing it to real servers. The page recognises it by what
        really happened.
      </p>
      {live.kind === 'none' && <p class="notice">{live.why}</p>}
      <ol class="cards">
        {LESSONS.map((lesson, at) => (
          <li class="card" key={lesson.id}>
            <h3>
              {at + 1}. {lesson.title}
            </h3>
            <p>{lesson.idea}</p>
            <p>
              <b>{lesson.task}</b>
            </p>
            {isSolved(lesson.id) && <p class="solved">✓ solved</p>}
            {live.kind === 'none' ? (
              <button type="button" class="button" disabled title={live.why}>
                Needs a live server
              </button>
            ) : (
              <p>
                <a class="button primary" {...beginning(live, lesson)}>
                  Begin<span class="unseen"> lesson {at + 1}</span>
                </a>
              </p>
            )}
          </li>
        ))}
      </ol>
    </main>
  );
}
