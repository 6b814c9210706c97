/** The lessons, all of them. */
import type { Live } from '../live/connection.ts';
import { hashOf, PLAIN_VIEW } from '../route.ts';
import { LESSONS, type Lesson } from './lessons.ts';
import './lessons.css';
import { isSolved } from './progress.ts';

export function begin(live: Live, { setUps: [left, right] }: Pick<Lesson, 'setUps'>): void {
  if (live.kind !== 'open') return;
  void live.send({ do: 'set-up', side: 'left', setUp: left });
  void live.send({ do: 'set-up', side: 'right', setUp: right });
}

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
        {LESSONS.map(({ id, title, idea, task, setUps }, at) => (
          <li class="card" key={id}>
            <h3>
              {at + 1}. {title}
            </h3>
            <p>{idea}</p>
            <p>
              <b>{task}</b>
            </p>
            {isSolved(id) && <p class="solved">✓ solved</p>}
            {live.kind === 'none' ? (
              <button type="button" class="button" disabled title={live.why}>
                Needs a live server
              </button>
            ) : (
              <p>
                <a
                  class="button primary"
                  href={hashOf({ page: 'live', lesson: id, view: PLAIN_VIEW })}
                  onClick={() => begin(live, { setUps })}
                >
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
