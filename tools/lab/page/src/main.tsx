/** The lab's page. */
import { render } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Recording } from '../../src/protocol.ts';
import { SIDES } from '../../src/set-up.ts';
import './page.css';
import { Bar, type OnPage } from './bar.tsx';
import { Compare, FileView, type OpenedFile } from './compare.tsx';
import { Front } from './front.tsx';
import { LessonPage, Lessons } from './lessons/page.tsx';
import { type Live, useLive } from './live/connection.ts';
import { LivePage, NotLive } from './live/live.tsx';
import { MeasuredPage } from './measured.tsx';
import { readTranscript } from './open-file.ts';
import { useRecorded } from './recorded.ts';
import { type Go, hashOf, PLAIN_VIEW, type Route, readRoute, titleOf } from './route.ts';

function Lab() {
  const live = useLive();
  const [route, go] = useRoute();
  const [file, setFile] = useState<OpenedFile>({});
  const recordings = useRecorded(route.page === 'compare' ? [route.left, route.right ?? []].flat() : []);
  const openFile = (text: string) => {
    try {
      setFile({ conversation: readTranscript(text) });
    } catch (error) {
      setFile({ problem: error instanceof Error ? error.message : String(error) });
    }
    go({ page: 'file', view: PLAIN_VIEW });
  };
  const fills = ['compare', 'live', 'file', 'front', 'lesson'].includes(route.page);
  const link = `${location.href.split('#')[0]}${hashOf(linkedRoute(route, live))}`;
  const shown = shownOn(route, live, file, recordings.values);
  return (
    <div class={`page ${fills ? 'fixed' : ''}`}>
      <Bar route={route} shown={shown} live={live} link={link} onFile={openFile} />
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
          <NotLive why={live.kind === 'none' ? live : undefined} />
        ))}
    </div>
  );
}

/** The route of the address, and the function that changes both. */
function useRoute(): readonly [Route, Go] {
  const [route, setRoute] = useState(() => readRoute(location.hash));
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
  return [route, go];
}

/** The conversations on a page, which can be copied. */
function shownOn(
  { page }: Route,
  live: Live,
  { conversation }: OpenedFile,
  recordings: readonly Recording[] = [],
): readonly OnPage[] {
  if (page === 'file') return conversation ? [{ conversation }] : [];
  if (page === 'compare')
    return recordings.map(({ id, transcript }) => ({ conversation: transcript, option: id.split('.')[0] }));
  if (page !== 'live' || live.kind !== 'open') return [];
  return SIDES.map((side) => live.sides[side])
    .filter(({ conversation }) => conversation.events.length > 0)
    .map(({ conversation, setUp }) => ({ conversation, option: setUp.option }));
}

/** A link to a live page holds its set-up, and never a token. */
function linkedRoute(route: Route, live: Live): Route {
  if (route.page !== 'live' || live.kind !== 'open') return route;
  return { ...route, setUps: [live.sides.left.setUp, live.sides.right.setUp] };
}

render(<Lab />, document.getElementById('lab') as HTMLElement);
