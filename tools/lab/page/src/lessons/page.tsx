/** The list of lessons, and a lesson that plays from its recordings. */
import { useCallback } from 'preact/hooks';
import { LESSONS, type Lesson, type LessonSide } from '../../../src/lessons.ts';
import type { Recording, SetUp } from '../../../src/protocol.ts';
import type { Live } from '../live/connection.ts';
import { hashOf, PLAIN_VIEW, type Route } from '../route.ts';
import { Story } from '../story.tsx';
import './lessons.css';
import { MARKS, readCall } from './marks.ts';
import { isMet, isSolved, meet, useKept } from './progress.ts';

const isLive = (side: LessonSide): side is SetUp => 'option' in side;

/** A link that sets up both sides for a lesson; undefined for a lesson without a live version. */
export function linkLive(live: Live, { id, sides: [left, right] }: Lesson) {
  if (live.kind !== 'open' || !isLive(left) || !isLive(right)) return undefined;
  return {
    href: hashOf({ page: 'live', lesson: id, view: PLAIN_VIEW }),
    onClick: () => {
      void live.send({ do: 'set-up', side: 'left', setUp: left });
      void live.send({ do: 'set-up', side: 'right', setUp: right });
    },
  };
}

const linkTo = ({ id }: Lesson) => hashOf({ page: 'lesson', id, view: PLAIN_VIEW });

export function Lessons({ live }: { readonly live: Live }) {
  return (
    <main class="text">
      <h2>Seven lessons</h2>
      <p class="lead">
        One idea each. You choose what happens, and watch what two shapes make of it: each choice was recorded
        from real servers and real clients.
      </p>
      <ol class="cards">
        {LESSONS.map((lesson, at) => {
          const byHand = linkLive(live, lesson);
          return (
            <li class="card" key={lesson.id}>
              <h3>
                {at + 1}. {lesson.title}
              </h3>
              <p>{lesson.idea}</p>
              {isSolved(lesson.id) && <p class="solved">✓ seen all of it</p>}
              <p>
                <a class="button primary" href={linkTo(lesson)}>
                  Begin<span class="unseen"> lesson {at + 1}</span>
                </a>{' '}
                {byHand && (
                  <a class="button" {...byHand}>
                    By hand<span class="unseen"> lesson {at + 1}</span>
                  </a>
                )}
              </p>
            </li>
          );
        })}
      </ol>
    </main>
  );
}

interface LessonProps {
  readonly route: Extract<Route, { page: 'lesson' }>;
  readonly go: (route: Route, isNew?: boolean) => void;
  readonly live: Live;
}

export function LessonPage({ route, go, live }: LessonProps) {
  useKept();
  const at = LESSONS.findIndex(({ id }) => id === route.id);
  const lesson = LESSONS[at] as Lesson;
  const next = LESSONS[at + 1];
  const byHand = linkLive(live, lesson);
  const onPair = useCallback(
    (pair: readonly [Recording, Recording]) => {
      for (const [side, recording] of pair.entries()) {
        const setUp = lesson.sides[side];
        if (setUp) meet(lesson.id, readCall(setUp, recording.transcript));
      }
    },
    [lesson],
  );
  return (
    <main class="story">
      <div class="intro">
        <h2>
          {at + 1}. {lesson.title}
        </h2>
        <p class="lead">{lesson.idea}</p>
      </div>
      <Story
        lesson={lesson}
        choice={route.choice}
        view={route.view}
        onChoice={(choice, view) => go({ ...route, choice, view }, true)}
        onView={(view) => go({ ...route, view })}
        onPair={onPair}
      />
      <div class="progress">
        <Marks id={lesson.id} />
        <p>
          {byHand && (
            <a class="button" {...byHand}>
              Do it by hand
            </a>
          )}{' '}
          {next ? (
            <a class={`button ${isSolved(lesson.id) ? 'primary' : ''}`} href={linkTo(next)}>
              Next: {next.title}
            </a>
          ) : (
            <a class="button" href={hashOf({ page: 'measured' })}>
              All that is measured
            </a>
          )}
        </p>
      </div>
    </main>
  );
}

/** The marks of a lesson, with those already seen. */
export const Marks = ({ id }: { readonly id: string }) => (
  <ul class="marks">
    {(MARKS[id] ?? []).map(([mark, words]) => (
      <li key={mark} class={isMet(id, mark) ? 'met' : ''}>
        <span aria-hidden="true">{isMet(id, mark) ? '✓' : '○'}</span> {words}
        <span class="unseen">{isMet(id, mark) ? ' (seen)' : ' (not seen yet)'}</span>
      </li>
    ))}
  </ul>
);
