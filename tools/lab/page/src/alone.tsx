/** The live page without a server: it plays the recording of a kill, and says how to kill a real one. */
import { LESSONS, type Lesson } from '../../src/lessons.ts';
import type { Live } from './live/connection.ts';
import type { PageProps } from './route.ts';
import { Story } from './story.tsx';

interface AloneProps extends PageProps {
  readonly live: Exclude<Live, { kind: 'open' }>;
}

const lesson = LESSONS.find(({ id }) => id === 'lose') as Lesson;

export const Alone = ({ live, route, go }: AloneProps) => (
  <main class="story">
    <div class="intro">
      <h2>A server is killed while its question is open</h2>
      <p class="lead" role="status">
        {live.kind === 'none' ? live.why : 'Connecting …'}
      </p>
    </div>
    {live.kind === 'none' && live.hasRecordings && (
      <>
        <p class="command">
          <code>pnpm lab</code> in a clone of mrtr-shapes starts two such servers on your machine: answer,
          deliver a request twice, change the state, kill one. <code>--server 'npx tsx server.ts'</code> opens
          your own. Here is a recording.
        </p>
        <Story
          lesson={lesson}
          route={{ ...route, choice: 'kill' }}
          // Another choice leads to the lesson.
          go={(next, isNew) =>
            go(
              isNew ? { ...next, page: 'lessons', parts: [lesson.id] } : { ...route, view: next.view },
              isNew,
            )
          }
          plays
        />
      </>
    )}
  </main>
);
