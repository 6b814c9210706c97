/** The first page: one question, and the fall. */
import { FRONT, LESSONS, type Lesson } from '../../src/lessons.ts';
import type { Live } from './live/connection.ts';
import type { PageProps } from './route.ts';
import { Story } from './story.tsx';

interface FrontProps extends PageProps {
  readonly live: Live;
}

const lesson = LESSONS.find(({ id }) => id === FRONT) as Lesson;

export function Front({ route, go, live }: FrontProps) {
  return (
    <main class="story front">
      <div class="intro">
        <h2>Answer one question, and watch a tool write twice</h2>
        <p class="lead">
          Two MCP servers run the same tool. It writes one audit record, then asks its user which units to
          show. In MCP’s 2026-07-28 revision a server asks by ending its reply with a question, and the client{' '}
          <b>calls the tool again</b> with the answer. What has already run may run again.
        </p>
      </div>
      <Story lesson={lesson} route={route} go={go} />
      {route.choice && (
        <nav class="ways" aria-label="What next">
          <a href="#/lessons">
            <b>Lessons</b> seven ways to lose, repeat or forge a call
          </a>
          <a href="#/live">
            <b>Break it yourself</b>{' '}
            {live.kind === 'none'
              ? 'with pnpm lab, on real processes'
              : 'kill a real process, forge the state'}
          </a>
          <a href="#/measured">
            <b>All that is measured</b> every shape, one question a column
          </a>
        </nav>
      )}
    </main>
  );
}
