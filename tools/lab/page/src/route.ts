/** Routes, in the part of the address after `#`: a link contains the whole set-up, and no server sees it. */
import { LESSONS } from '../../src/lessons.ts';
import { CHOICES, type SetUp, setUp } from '../../src/set-up.ts';
import { ZOOMS } from './viewer/model.ts';
import { PANELS, type View } from './viewer/viewer.tsx';

/** The titles of the pages. */
const TITLES = {
  front: 'See a tool write twice',
  lessons: 'Lessons',
  live: 'Live',
  measured: 'Measured',
  compare: 'Recorded',
  file: 'A transcript',
} as const;

export interface Route {
  readonly page: keyof typeof TITLES;
  /** What is shown on it: a lesson, one or two recordings, both set-ups, or a compressed transcript. */
  readonly parts: readonly string[];
  /** The choice at the fork of a lesson. Undefined until the visitor has answered. */
  readonly choice?: string | undefined;
  /** The lesson to solve on the live page. */
  readonly lesson?: string | undefined;
  readonly view: View;
}

/** Shows a route. By default it replaces the shown one in the browser's history. */
export type Go = (route: Route, isNew?: boolean) => void;

export interface PageProps {
  readonly route: Route;
  readonly go: Go;
}

/** The props of a route's viewer. */
export const viewing = ({ route, go }: PageProps) => ({
  view: route.view,
  onView: (view: View) => go({ ...route, view }),
});

export const PLAIN_VIEW: View = { zoom: 'rounds', panel: 'source' };

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page = '', ...parts] = path.split('/').map(decode);
  const { choice, lesson, ...view } = Object.fromEntries(new URLSearchParams(query));
  const shown = { choice, lesson, view: readView(view) };
  if (page.startsWith('open=')) return { page: 'file', parts: [page.slice('open='.length)], ...shown };
  const isKnown = page === 'compare' ? RECORDINGS.test(path) : Object.hasOwn(TITLES, page);
  return { page: isKnown ? (page as Route['page']) : 'front', parts, ...shown };
}

const RECORDINGS = /^compare(?:\/[\w-]+\.[\w-]+){1,2}$/;

/** A link may be cut off within an escape. */
function decode(part: string) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const lessonOf = (id: string | undefined) => LESSONS.find((one) => one.id === id);

export function hashOf({ page, parts, choice, lesson, view }: Route) {
  const given = Object.entries({ choice, lesson, ...view });
  const plain = new Map<string, unknown>(Object.entries(PLAIN_VIEW));
  const params = given.flatMap(([name, value]) =>
    value === undefined || value === plain.get(name) ? [] : [[name, `${value}`]],
  );
  const query = params.length > 0 ? `?${new URLSearchParams(params)}` : '';
  const [packed] = parts;
  if (page === 'file' && packed !== undefined) return `#open=${packed}${query}`;
  return `#/${page === 'front' ? '' : [page, ...parts].map(encodeURIComponent).join('/')}${query}`;
}

/** The title of the window. */
export function titleOf({ page, parts }: Route) {
  const [first] = parts;
  const shown = page === 'lessons' ? lessonOf(first)?.title : page === 'compare' && parts.join(' beside ');
  return `${shown || TITLES[page]} · the lab of mrtr-shapes`;
}

const CHOSEN = Object.keys(CHOICES) as (keyof typeof CHOICES)[];

export const setUpText = (given: SetUp) =>
  [given.option, ...CHOSEN.map((name) => given[name]), given.singleUse ? 'single' : 'repeatable'].join('.');

export function readSetUp(text: string) {
  const [option = '', ...words] = text.split('.');
  if (!/^[a-z][\w-]*$/.test(option)) return undefined;
  const known = CHOSEN.flatMap((name, at) => {
    const word = words[at] ?? '';
    return Object.hasOwn(CHOICES[name], word) ? [[name, word]] : [];
  });
  return setUp(option, { ...Object.fromEntries(known), singleUse: words[CHOSEN.length] === 'single' });
}

function readView({ zoom: wantedZoom, panel: wantedPanel, step = '' }: Readonly<Record<string, string>>) {
  const [zoom] = ZOOMS.find(([one]) => one === wantedZoom) ?? [PLAIN_VIEW.zoom];
  const [panel] = PANELS.find(([one]) => one === wantedPanel) ?? [PLAIN_VIEW.panel];
  return { zoom, panel, step: /^\d{1,4}$/.test(step) ? Number(step) : undefined };
}
