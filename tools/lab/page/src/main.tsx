/** The lab's page. */
import { render } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { SIDES } from '../../src/set-up.ts';
import './page.css';
import { Bar, type OnPage } from './bar.tsx';
import { Compare, FileView, type OpenedFile } from './compare.tsx';
import { Front } from './front.tsx';
import { LessonPage, Lessons } from './lessons/page.tsx';
import { useLive } from './live/connection.ts';
import { LivePage } from './live/live.tsx';
import { MeasuredPage } from './measured.tsx';
import { readTranscript } from './open-file.ts';
import { useRecorded } from './recorded.ts';
import { type Go, hashOf, PLAIN_VIEW, type Route, readRoute, titleOf } from './route.ts';

function Lab() {
  const live = useLive();
  const [route, setRoute] = useState(() => readRoute(location.hash));
  const [file, setFile] = useState<OpenedFile>({});
  const recordings = useRecorded(route.page === 'compare' ? [route.left, route.right ?? []].flat() : []);
  // Listens before the page is painted, so that it misses no address.
  useLayoutEffect(() => {
    const onHash = () => setRoute(readRoute(location.hash));
    addEventListener('hashchange', onHash);
    addEventListener('popstate', onHash);
  }, []);
  useEffect(() => {
    document.title = titleOf(route);
  }, [route]);
  const go: Go = (next, isNew = false) => {
    setRoute(next);
    // A step is not a page of its own: "back" skips it.
    if (isNew) history.pushState(null, '', hashOf(next));
    else history.replaceState(null, '', hashOf(next));
  };
  const openFile = (text: string) => {
    try {
      setFile({ conversation: readTranscript(text) });
    } catch (error) {
      setFile({ problem: error instanceof Error ? error.message : String(error) });
    }
    go({ page: 'file', view: PLAIN_VIEW });
  };
  const shown = (): readonly OnPage[] => {
    if (route.page === 'file') return file.conversation ? [{ conversation: file.conversation }] : [];
    if (route.page === 'live' && live.kind === 'open')
      return SIDES.map((side) => live.sides[side])
        .filter(({ conversation }) => conversation.events.length > 0)
        .map(({ conversation, setUp }) => ({ conversation, option: setUp.option }));
    if (route.page !== 'compare') return [];
    return (recordings.values ?? []).map(({ id, transcript }) => ({
      conversation: transcript,
      option: id.split('.')[0],
    }));
  };
  const isWork = route.page === 'compare' || route.page === 'live' || route.page === 'file';
  const fills = isWork || route.page === 'front' || route.page === 'lesson';
  const link = `${location.href.split('#')[0]}${hashOf(linkedRoute(route, live))}`;
  return (
    <div class={`page ${fills ? 'fixed' : ''}`}>
      <Bar route={route} shown={shown()} live={live} link={link} onFile={openFile} />
      {route.page === 'front' && <Front route={route} go={go} isAlone={live.kind === 'none'} />}
      {route.page === 'measured' && <MeasuredPage live={live.kind !== 'none'} />}
      {route.page === 'lesson' && <LessonPage key={route.lesson.id} route={route} go={go} live={live} />}
      {route.page === 'compare' && <Compare route={route} go={go} recordings={recordings} />}
      {route.page === 'lessons' && <Lessons live={live} />}
      {route.page === 'file' && <FileView {...file} route={route} go={go} />}
      {route.page === 'live' &&
        (live.kind === 'open' ? (
          <LivePage live={live} route={route} go={go} />
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
