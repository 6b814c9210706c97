/** The lab's page. */
import { render } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Conversation, Recording } from '../../src/protocol.ts';
import './page.css';
import { Bar, type OnPage } from './bar.tsx';
import { Compare, FileView } from './compare.tsx';
import { Front } from './front.tsx';
import { LessonPage, Lessons } from './lessons/page.tsx';
import { useLive } from './live/connection.ts';
import { LivePage } from './live/live.tsx';
import { MeasuredPage } from './measured.tsx';
import { readTranscript } from './open-file.ts';
import { hashOf, PLAIN_VIEW, type Route, readRoute, titleOf } from './route.ts';

function Lab() {
  const live = useLive();
  const [route, setRoute] = useState<Route>(() => readRoute(location.hash));
  const [shown, setShown] = useState<readonly OnPage[]>([]);
  const [file, setFile] = useState<{ conversation?: Conversation; problem?: string }>({});
  // Listens before the page is painted, so that it misses no address.
  useLayoutEffect(() => {
    const onHash = () => {
      setRoute(readRoute(location.hash));
      setShown([]);
    };
    addEventListener('hashchange', onHash);
    addEventListener('popstate', onHash);
  }, []);
  useEffect(() => {
    document.title = titleOf(route);
  }, [route]);
  const go = useCallback((next: Route, isNew = false) => {
    setRoute(next);
    // A step is not a page of its own: "back" skips it.
    if (isNew) history.pushState(null, '', hashOf(next));
    else history.replaceState(null, '', hashOf(next));
  }, []);
  const onRecordings = useCallback(
    (recordings: readonly Recording[]) =>
      setShown(
        recordings.map(({ id, transcript }) => ({ conversation: transcript, option: id.split('.')[0] })),
      ),
    [],
  );
  const openFile = (text: string) => {
    try {
      const conversation = readTranscript(text);
      setFile({ conversation });
      setShown([{ conversation }]);
    } catch (error) {
      setFile({ problem: error instanceof Error ? error.message : String(error) });
      setShown([]);
    }
    go({ page: 'file', view: PLAIN_VIEW });
  };
  const isWork = route.page === 'compare' || route.page === 'live' || route.page === 'file';
  const fills = isWork || route.page === 'front' || route.page === 'lesson';
  const link = `${location.href.split('#')[0]}${hashOf(linkedRoute(route, live))}`;
  return (
    <div class={`page ${fills ? 'fixed' : ''}`}>
      <Bar route={route} shown={isWork ? shown : []} live={live} link={link} onFile={openFile} />
      {route.page === 'front' && <Front route={route} go={go} isAlone={live.kind === 'none'} />}
      {route.page === 'measured' && <MeasuredPage live={live.kind !== 'none'} />}
      {route.page === 'lesson' && <LessonPage key={route.id} route={route} go={go} live={live} />}
      {route.page === 'compare' && <Compare route={route} go={go} onShown={onRecordings} />}
      {route.page === 'lessons' && <Lessons live={live} />}
      {route.page === 'file' && (
        <FileView {...file} view={route.view} onView={(view) => go({ page: 'file', view })} />
      )}
      {route.page === 'live' &&
        (live.kind === 'open' ? (
          <LivePage
            live={live}
            route={route}
            go={go}
            onShown={(conversations) => {
              const { left, right } = live.sides;
              const options = [left.setUp.option, right.setUp.option];
              setShown(conversations.map((conversation, at) => ({ conversation, option: options[at] })));
            }}
          />
        ) : (
          <main class="text">
            <h2>Live</h2>
            <p class={live.kind === 'none' ? 'notice' : 'lead'} role="status">
              {live.kind === 'none' ? live.why : 'Connecting …'}
            </p>
            <p>
              Here two real servers run, and you are the user, the network and the operator: kill an instance,
              deliver a request twice, change the state, deploy a version 2.
            </p>
            {live.kind === 'none' && live.hasRecordings && (
              <p>
                Everything that was recorded is here all the same: <a href="#/lessons">take the lessons</a> or{' '}
                <a href="#/measured">open the measured table</a>.
              </p>
            )}
          </main>
        ))}
    </div>
  );
}

/** A link to a live page holds its set-up, and never a token. */
function linkedRoute(route: Route, live: ReturnType<typeof useLive>): Route {
  if (route.page !== 'live' || live.kind !== 'open') return route;
  return { ...route, setUps: [live.sides.left.setUp, live.sides.right.setUp] };
}

render(<Lab />, document.getElementById('lab') as HTMLElement);
