/** `@mrtr/demo-link-account`: a tool that has its user link an account on another site, in three shapes, ready to be run. */
import type { Subject } from '@mrtr/comparison/calls';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { SECRET } from './ada.ts';
import { journalTool, toolBuilder, waiting } from './agenda.ts';
import { type MakeTool, startSite } from './site.ts';

/** The three, by their letters. Each conversation has a site of its own, on real ports, and is ada's. */
export const SHAPES: readonly Subject[] = [
  hostShape('g', 'tool builder', () => toolBuilder),
  hostShape('h', 'linear', (store) => (calendars) => waiting(calendars, store)),
  hostShape('j', 'journal', () => journalTool),
];

function hostShape(id: string, title: string, shape: (store: ContinuationStore) => MakeTool): Subject {
  return {
    id,
    title,
    create: ({ state }) => {
      const store = new ContinuationStore();
      let site: ReturnType<typeof startSite> | undefined;
      return {
        async fetch(request: Request) {
          site ??= startSite(shape(store), state);
          const headers = new Headers(request.headers);
          headers.set('authorization', `Bearer ${SECRET}`);
          const body = request.method === 'POST' && { body: await request.text() };
          return fetch((await site).url, { method: request.method, headers, ...body });
        },
        framesHeld: () => store.parked,
        close: async () => {
          await (await site)?.close();
          store.close();
        },
      };
    },
  };
}
