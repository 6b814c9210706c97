/** Routes, in the part of the address after `#`: a link contains the whole set-up, and no server sees it. */
import { LESSONS } from '../../src/lessons.ts';
import type { SetUp } from '../../src/protocol.ts';
import { ZOOMS } from './viewer/timeline.tsx';
import { PANELS, type View } from './viewer/viewer.tsx';

export type Route =
  /** Undefined until the visitor has answered. */
  | { readonly page: 'front'; readonly choice?: string | undefined; readonly view: View }
  | { readonly page: 'measured' }
  | { readonly page: 'lessons' }
  | {
      readonly page: 'lesson';
      readonly id: string;
      readonly choice?: string | undefined;
      readonly view: View;
    }
  | {
      readonly page: 'compare';
      readonly left: string;
      readonly right?: string | undefined;
      readonly view: View;
    }
  | { readonly page: 'file'; readonly view: View }
  | {
      readonly page: 'live';
      /** Undefined for the current set-up. */
      readonly setUps?: readonly [SetUp, SetUp] | undefined;
      readonly lesson?: string | undefined;
      readonly view: View;
    };

export const PLAIN_VIEW: View = { zoom: 'rounds', panel: 'source' };

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page, one, other] = path.split('/').map(decodeURIComponent);
  const params = new URLSearchParams(query);
  const view = readView(params);
  const choice = params.get('choice') ?? undefined;
  if (page === 'measured') return { page };
  if (page === 'lessons')
    return LESSONS.some(({ id }) => id === one) && one ? { page: 'lesson', id: one, choice, view } : { page };
  if (page === 'compare' && one && isId(one)) {
    return { page, left: one, right: other && isId(other) ? other : undefined, view };
  }
  if (page === 'file') return { page, view };
  if (page === 'live') {
    const [left, right] = [readSetUp(one), readSetUp(other)];
    return {
      page,
      setUps: left && right ? [left, right] : undefined,
      lesson: params.get('lesson') ?? undefined,
      view,
    };
  }
  return { page: 'front', choice, view };
}

const isId = (text: string) => /^[\w-]+\.[\w-]+$/.test(text);

export function hashOf(route: Route): string {
  if (route.page === 'measured' || route.page === 'lessons') return `#/${route.page}`;
  const params = new URLSearchParams();
  const { step, zoom, panel } = route.view;
  if ('choice' in route && route.choice) params.set('choice', route.choice);
  if (step !== undefined) params.set('step', `${step}`);
  if (zoom !== PLAIN_VIEW.zoom) params.set('zoom', zoom);
  if (panel !== PLAIN_VIEW.panel) params.set('panel', panel);
  if (route.page === 'live' && route.lesson) params.set('lesson', route.lesson);
  const query = params.size > 0 ? `?${params}` : '';
  return `#/${partsOf(route).map(encodeURIComponent).join('/')}${query}`;
}

function partsOf(route: Route & { readonly view: View }): readonly string[] {
  switch (route.page) {
    case 'front':
      return [];
    case 'lesson':
      return ['lessons', route.id];
    case 'live':
      return ['live', ...(route.setUps ?? []).map(setUpText)];
    case 'compare':
      return ['compare', route.left, ...(route.right ? [route.right] : [])];
    default:
      return [route.page];
  }
}

/** The title of the window. */
export function titleOf(route: Route): string {
  const lesson = route.page === 'lesson' && LESSONS.find(({ id }) => id === route.id)?.title;
  const names: Readonly<Record<Route['page'], string>> = {
    front: 'See a tool write twice',
    measured: 'Measured',
    lessons: 'Lessons',
    lesson: lesson || 'Lesson',
    compare: route.page === 'compare' ? [route.left, route.right].filter(Boolean).join(' beside ') : '',
    live: 'Live',
    file: 'A transcript',
  };
  return `${names[route.page]} · the lab of mrtr-shapes`;
}

const setUpText = ({ option, tool, client, instances, singleUse }: SetUp): string =>
  [option, tool, client, instances, singleUse ? 'single' : 'repeatable'].join('.');

function readSetUp(text = ''): SetUp | undefined {
  const [option = '', tool, client, instances, use] = text.split('.');
  if (!/^[a-z][\w-]*$/.test(option)) return undefined;
  return {
    option,
    tool: tool === 'work-item' || tool === 'order' ? tool : 'weather',
    client: client === 'legacy' || client === 'unaskable' ? client : 'modern',
    instances: instances === 'one' ? 'one' : 'two',
    singleUse: use === 'single',
  };
}

function readView(params: URLSearchParams): View {
  const [zoom] = ZOOMS.find(([one]) => one === params.get('zoom')) ?? [PLAIN_VIEW.zoom];
  const [panel] = PANELS.find(([one]) => one === params.get('panel')) ?? [PLAIN_VIEW.panel];
  const step = params.get('step');
  return { zoom, panel, step: step !== null && /^\d{1,4}$/.test(step) ? Number(step) : undefined };
}
