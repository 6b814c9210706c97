/** The list of lessons, and a lesson that plays from its recordings. */
import { LESSONS, type Lesson, type LessonSide } from '../../../src/lessons.ts';
import type { SetUp } from '../../../src/set-up.ts';
import { type Live, setUpBoth } from '../live/connection.ts';
import type { PageProps } from '../route.ts';
import { Story } from '../story.tsx';
import './lessons.css';
import { readCall } from './marks.ts';
import { isMet, isSolved, marksOf, meet, useKept } from './progress.ts';

const isLive = (side: LessonSide): side is SetUp => 'option' in side;

/** A link that sets up both sides for a lesson; undefined for a lesson without a live version. */
export function linkLive(live: Live, { id, sides }: Lesson) {
  if (live.kind !== 'open' || !sides.every(isLive)) return undefined;
  return { href: `#/live?lesson=${id}`, onClick: () => setUpBoth(live, sides) };
}

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
                <a class="button primary" href={`#/lessons/${lesson.id}`}>
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

interface LessonProps extends PageProps {
  readonly lesson: Lesson;
  readonly live: Live;
}

export function LessonPage({ lesson, live, ...page }: LessonProps) {
  useKept();
  const at = LESSONS.indexOf(lesson);
  const next = LESSONS[at + 1];
  const byHand = linkLive(live, lesson);
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
        {...page}
        onEnd={(transcripts) => {
          for (const [at, side] of lesson.sides.entries()) {
            const transcript = transcripts[at];
            if (transcript) meet(lesson.id, readCall(side, transcript));
          }
        }}
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
            <a class={`button ${isSolved(lesson.id) ? 'primary' : ''}`} href={`#/lessons/${next.id}`}>
              Next: {next.title}
            </a>
          ) : (
            <a class="button" href="#/measured">
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
    {marksOf(id).map((mark) => {
      const [words] = mark;
      const [look, sign, said] = isMet(mark) ? ['met', '✓', ' (seen)'] : ['', '○', ' (not seen yet)'];
      return (
        <li key={words} class={look}>
          <span aria-hidden="true">{sign}</span> {words}
          <span class="unseen">{said}</span>
        </li>
      );
    })}
  </ul>
);
