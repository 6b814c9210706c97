/** The lab's page. */
import { type ComponentChild, render } from 'preact';
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
import { type Go, hashOf, type PageProps, PLAIN_VIEW, type Route, readRoute, titleOf } from './route.ts';

/** The props of a page. */
interface Props<Name extends Route['page']> extends PageProps<Name> {
  readonly live: Live;
  readonly file: OpenedFile;
  readonly recordings: Loaded<Recording>;
}

interface Page<Name extends Route['page']> {
  readonly show: (props: Props<Name>) => ComponentChild;
  /** The conversations on it, which can be copied. */
  readonly shown?: (props: Props<Name>) => readonly OnPage[];
}

const PAGES: { readonly [Name in Route['page']]: Page<Name> } = {
  front: { show: (props) => <Front {...props} /> },
  lessons: { show: (props) => <Lessons {...props} /> },
  lesson: { show: (props) => <LessonPage key={props.route.lesson.id} {...props} /> },
  measured: { show: (props) => <MeasuredPage {...props} /> },
  compare: {
    show: (props) => <Compare {...props} />,
    shown: ({ recordings: { values = [] } }) =>
      values.map(({ id, transcript }) => ({ conversation: transcript, option: id.split('.')[0] })),
  },
  file: {
    show: ({ file, ...props }) => <FileView {...props} {...file} />,
    shown: ({ file: { conversation } }) => (conversation ? [{ conversation }] : []),
  },
  live: {
    show: ({ live, ...props }) =>
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
  const recordings = useRecorded(route.page === 'compare' ? [route.left, route.right ?? []].flat() : []);
  const open = (text: Promise<string>) =>
    text.then(readTranscript).then(
      (conversation) => setFile({ conversation }),
      ({ message }: Error) => setFile({ problem: message }),
    );
  const openFile = async (file: Blob | undefined) => {
    if (!file) return;
    await open(textOf(file));
    go({ page: 'file', view: PLAIN_VIEW }, true);
  };
  const packed = route.page === 'file' ? route.packed : undefined;
  useEffect(() => {
    if (packed !== undefined) void open(unpack(packed));
  }, [packed]);
  const { show, shown } = PAGES[route.page] as unknown as Page<Route['page']>;
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
      {show(props)}
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
  return { ...route, setUps: [live.sides.left.setUp, live.sides.right.setUp] };
}

render(<Lab />, document.getElementById('lab') as HTMLElement);
