/** The first page: one question, and the fall. */
import { FRONT, LESSONS, type Lesson } from '../../src/lessons.ts';
import { hashOf, PLAIN_VIEW, type Route } from './route.ts';
import { Story } from './story.tsx';

interface FrontProps {
  readonly route: Extract<Route, { page: 'front' }>;
  readonly go: (route: Route, isNew?: boolean) => void;
  /** Whether the page has no live server. */
  readonly isAlone: boolean;
}

const lesson = LESSONS.find(({ id }) => id === FRONT) as Lesson;

export function Front({ route, go, isAlone }: FrontProps) {
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
      <Story
        lesson={lesson}
        choice={route.choice}
        view={route.view}
        onChoice={(choice, view) => go({ page: 'front', choice, view }, true)}
        onView={(view) => go({ ...route, view })}
      />
      {route.choice && (
        <nav class="ways" aria-label="What next">
          <a href={hashOf({ page: 'lessons' })}>
            <b>Lessons</b> seven ways to lose, repeat or forge a call
          </a>
          <a href={hashOf({ page: 'live', view: PLAIN_VIEW })}>
            <b>Break it yourself</b>{' '}
            {isAlone ? 'with pnpm lab, on real processes' : 'kill a real process, forge the state'}
          </a>
          <a href={hashOf({ page: 'measured' })}>
            <b>All that is measured</b> thirteen shapes, ten questions
          </a>
        </nav>
      )}
    </main>
  );
}
