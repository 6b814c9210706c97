/** What the address says: everything after `#`, so that a link holds the whole set-up and no server sees it. */
import type { SetUp } from '../../src/protocol.ts';
import type { Zoom } from './viewer/model.ts';
import type { Panel, View } from './viewer/viewer.tsx';

export type Route =
  | { readonly page: 'matrix' }
  | { readonly page: 'lessons' }
  | {
      readonly page: 'compare';
      readonly left: string;
      readonly right?: string | undefined;
      readonly view: View;
    }
  | { readonly page: 'file'; readonly view: View }
  | {
      readonly page: 'live';
      /** Undefined for what is set up now. */
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
  if (page === 'lessons') return { page };
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
  return { page: 'matrix' };
}

const isId = (text: string) => /^[\w-]+\.[\w-]+$/.test(text);

export function hashOf(route: Route): string {
  if (route.page === 'matrix') return '#/';
  if (route.page === 'lessons') return '#/lessons';
  const params = new URLSearchParams();
  const { step, zoom, panel } = route.view;
  if (step !== undefined) params.set('step', `${step}`);
  if (zoom !== PLAIN_VIEW.zoom) params.set('zoom', zoom);
  if (panel !== PLAIN_VIEW.panel) params.set('panel', panel);
  if (route.page === 'live' && route.lesson) params.set('lesson', route.lesson);
  const query = params.size > 0 ? `?${params}` : '';
  if (route.page === 'file') return `#/file${query}`;
  const parts =
    route.page === 'live'
      ? (route.setUps ?? []).map(setUpText)
      : [route.left, ...(route.right ? [route.right] : [])];
  return `#/${[route.page, ...parts.map(encodeURIComponent)].join('/')}${query}`;
}

const setUpText = ({ option, tool, client, instances, singleUse }: SetUp): string =>
  [option, tool, client, instances, singleUse ? 'single' : 'repeatable'].join('.');

function readSetUp(text = ''): SetUp | undefined {
  const [option = '', tool, client, instances, use] = text.split('.');
  if (!/^[a-z][\w-]*$/.test(option)) return undefined;
  return {
    option,
    tool: tool === 'work-item' || tool === 'order' ? tool : 'weather',
    client: client === 'legacy' || client === 'mute' ? client : 'modern',
    instances: instances === 'one' ? 'one' : 'two',
    singleUse: use === 'single',
  };
}

const ZOOMS: readonly string[] = ['rounds', 'wire'] satisfies Zoom[];
const PANELS: readonly string[] = ['source', 'wire', 'state', 'world'] satisfies Panel[];

function readView(params: URLSearchParams): View {
  const [zoom, panel, step] = [params.get('zoom') ?? '', params.get('panel') ?? '', params.get('step')];
  return {
    zoom: ZOOMS.includes(zoom) ? (zoom as Zoom) : PLAIN_VIEW.zoom,
    panel: PANELS.includes(panel) ? (panel as Panel) : PLAIN_VIEW.panel,
    step: step !== null && /^\d{1,4}$/.test(step) ? Number(step) : undefined,
  };
}
