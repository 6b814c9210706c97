/** The lab's page. */
import { type ComponentType, render } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Recording } from '../../src/protocol.ts';
import { OWN, SIDES } from '../../src/set-up.ts';
import './page.css';
import { Alone } from './alone.tsx';
import { Bar, type OnPage } from './bar.tsx';
import { Compare, FileView, type OpenedFile } from './compare.tsx';
import { Front } from './front.tsx';
import { LessonPage, Lessons } from './lessons/page.tsx';
import { type Live, useLive } from './live/connection.ts';
import { LivePage } from './live/live.tsx';
import { MeasuredPage } from './measured.tsx';
import { readTranscript, textOf, unpack } from './open-file.ts';
import { type Loaded, useRecorded } from './recorded.ts';
import {
  type Go,
  hashOf,
  lessonOf,
  type PageProps,
  PLAIN_VIEW,
  type Route,
  readRoute,
  setUpText,
  titleOf,
} from './route.ts';

/** The props of a page. */
interface Props extends PageProps {
  readonly live: Live;
  readonly file: OpenedFile;
  readonly recordings: Loaded<Recording>;
}

interface Page {
  readonly Show: ComponentType<Props>;
  /** The conversations on it, which can be copied. */
  readonly shown?: (props: Props) => readonly OnPage[];
}

const PAGES: Readonly<Record<Route['page'], Page>> = {
  front: { Show: Front },
  lessons: {
    Show: (props) => {
      const lesson = lessonOf(props.route.parts[0]);
      return lesson ? <LessonPage key={lesson.id} lesson={lesson} {...props} /> : <Lessons {...props} />;
    },
  },
  measured: { Show: MeasuredPage },
  compare: {
    Show: Compare,
    shown: ({ recordings: { values = [] } }) =>
      values.map(({ id, transcript }) => ({ conversation: transcript, option: id.split('.')[0] })),
  },
  file: {
    Show: ({ file, ...props }) => <FileView {...props} {...file} />,
    shown: ({ file: { conversation } }) => (conversation ? [{ conversation }] : []),
  },
  live: {
    Show: ({ live, ...props }) =>
      live.kind === 'open' ? <LivePage {...props} live={live} /> : <Alone {...props} live={live} />,
    shown: ({ live }) =>
      (live.kind === 'open' ? SIDES.map((side) => live.sides[side]) : [])
        .filter(({ conversation }) => conversation.events.length > 0)
        .map(({ conversation, setUp: { option }, own }) => ({
          conversation,
          ...(option === OWN ? { server: own?.server } : { option }),
        })),
  },
};

function Lab() {
  const live = useLive();
  const [route, go] = useRoute();
  const [file, setFile] = useState<OpenedFile>({});
  const recordings = useRecorded(route.page === 'compare' ? route.parts : []);
  const open = (text: Promise<string>) =>
    text.then(readTranscript).then(
      (conversation) => setFile({ conversation }),
      ({ message }: Error) => setFile({ problem: message }),
    );
  const openFile = async (file: Blob | undefined) => {
    if (!file) return;
    await open(textOf(file));
    go({ page: 'file', parts: [], view: PLAIN_VIEW }, true);
  };
  const packed = route.page === 'file' ? route.parts[0] : undefined;
  useEffect(() => {
    if (packed !== undefined) void open(unpack(packed));
  }, [packed]);
  const { Show, shown } = PAGES[route.page];
  const props = { route, go, live, file, recordings };
  const link = `${location.href.split('#')[0]}${hashOf(linkedRoute(route, live))}`;
  return (
    <div
      class="page"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void openFile(event.dataTransfer?.files[0]);
      }}
    >
      <Bar route={route} shown={shown?.(props) ?? []} live={live} link={link} onFile={openFile} />
      <Show {...props} />
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

/** A link to a live page holds its set-up, and never a token. */
function linkedRoute(route: Route, live: Live): Route {
  if (route.page !== 'live' || live.kind !== 'open') return route;
  return { ...route, parts: SIDES.map((side) => setUpText(live.sides[side].setUp)) };
}

render(<Lab />, document.getElementById('lab') as HTMLElement);
