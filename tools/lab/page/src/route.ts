/** Routes, in the part of the address after `#`: a link contains the whole set-up, and no server sees it. */
import { LESSONS, type Lesson } from '../../src/lessons.ts';
import { CHOICES, type SetUp, setUp } from '../../src/set-up.ts';
import { ZOOMS } from './viewer/model.ts';
import { PANELS, type View } from './viewer/viewer.tsx';

export type Route = { readonly view: View } & (
  | { readonly page: 'measured' | 'lessons' }
  /** A transcript: compressed in the address, or from a file. */
  | { readonly page: 'file'; readonly packed?: string | undefined }
  /** `choice` is undefined until the visitor has answered. */
  | { readonly page: 'front'; readonly choice?: string | undefined }
  | { readonly page: 'lesson'; readonly lesson: Lesson; readonly choice?: string | undefined }
  | { readonly page: 'compare'; readonly left: string; readonly right?: string | undefined }
  | {
      readonly page: 'live';
      /** Undefined for the current set-up. */
      readonly setUps?: readonly [SetUp, SetUp] | undefined;
      readonly lesson?: Lesson | undefined;
    }
);

/** Shows a route. By default it replaces the shown one in the browser's history. */
export type Go = (route: Route, isNew?: boolean) => void;

export interface PageProps<Name extends Route['page']> {
  readonly route: Extract<Route, { page: Name }>;
  readonly go: Go;
}

/** The props of a route's viewer. */
export const viewing = (route: Route, go: Go) => ({
  view: route.view,
  onView: (view: View) => go({ ...route, view }),
});

export const PLAIN_VIEW: View = { zoom: 'rounds', panel: 'source' };

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page = '', one = '', other = ''] = path.split('/').map(decode);
  const params = new URLSearchParams(query);
  const view = readView(params);
  const choice = params.get('choice') ?? undefined;
  if (page.startsWith('open=')) return { page: 'file', packed: page.slice('open='.length), view };
  if (page === 'measured' || page === 'file') return { page, view };
  if (page === 'lessons') {
    const lesson = lessonOf(one);
    return lesson ? { page: 'lesson', lesson, choice, view } : { page, view };
  }
  if (page === 'compare' && isId(one))
    return { page, left: one, right: isId(other) ? other : undefined, view };
  if (page === 'live') {
    const [left, right] = [readSetUp(one), readSetUp(other)];
    const setUps = left && right && ([left, right] as const);
    return { page, setUps, lesson: lessonOf(params.get('lesson')), view };
  }
  return { page: 'front', choice, view };
}

/** A link may be cut off within an escape. */
function decode(part: string) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const lessonOf = (id: string | null) => LESSONS.find((one) => one.id === id);

const isId = (text: string) => /^[\w-]+\.[\w-]+$/.test(text);

export function hashOf(route: Route) {
  const params = new URLSearchParams();
  const { step, zoom, panel } = route.view;
  if ('choice' in route && route.choice) params.set('choice', route.choice);
  if (step !== undefined) params.set('step', `${step}`);
  if (zoom !== PLAIN_VIEW.zoom) params.set('zoom', zoom);
  if (panel !== PLAIN_VIEW.panel) params.set('panel', panel);
  if (route.page === 'live' && route.lesson) params.set('lesson', route.lesson.id);
  const query = params.size > 0 ? `?${params}` : '';
  if (route.page === 'file' && route.packed !== undefined) return `#open=${route.packed}${query}`;
  return `#/${partsOf(route).map(encodeURIComponent).join('/')}${query}`;
}

function partsOf(route: Route) {
  switch (route.page) {
    case 'front':
      return [];
    case 'lesson':
      return ['lessons', route.lesson.id];
    case 'live':
      return ['live', ...(route.setUps ?? []).map(setUpText)];
    case 'compare':
      return ['compare', route.left, route.right ?? []].flat();
    default:
      return [route.page];
  }
}

const TITLES = {
  front: 'See a tool write twice',
  measured: 'Measured',
  lessons: 'Lessons',
  live: 'Live',
  file: 'A transcript',
} as const;

/** The title of the window. */
export const titleOf = (route: Route) => `${nameOf(route)} · the lab of mrtr-shapes`;

function nameOf(route: Route) {
  if (route.page === 'lesson') return route.lesson.title;
  if (route.page === 'compare') return [route.left, route.right ?? []].flat().join(' beside ');
  return TITLES[route.page];
}

const CHOSEN = Object.keys(CHOICES) as (keyof typeof CHOICES)[];

const setUpText = (given: SetUp) =>
  [given.option, ...CHOSEN.map((name) => given[name]), given.singleUse ? 'single' : 'repeatable'].join('.');

function readSetUp(text: string) {
  const [option = '', ...words] = text.split('.');
  if (!/^[a-z][\w-]*$/.test(option)) return undefined;
  const known = CHOSEN.flatMap((name, at) => {
    const word = words[at] ?? '';
    return Object.hasOwn(CHOICES[name], word) ? [[name, word]] : [];
  });
  return setUp(option, { ...Object.fromEntries(known), singleUse: words[CHOSEN.length] === 'single' });
}

function readView(params: URLSearchParams) {
  const [zoom] = ZOOMS.find(([one]) => one === params.get('zoom')) ?? [PLAIN_VIEW.zoom];
  const [panel] = PANELS.find(([one]) => one === params.get('panel')) ?? [PLAIN_VIEW.panel];
  const step = params.get('step');
  return { zoom, panel, step: step !== null && /^\d{1,4}$/.test(step) ? Number(step) : undefined };
}
