/** `pnpm demo link-account`: a tool that has its user link an account on another site, in three shapes. */
import type { Subject } from '@mrtr/comparison/calls';
import type { AnswerKind, Demo } from '@mrtr/comparison/demo';
import { scriptedUser } from '@mrtr/harness';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { ada, type PageReaction, SECRET } from './ada.ts';
import { journalTool, toolBuilder, waiting } from './agenda.ts';
import { type MakeTool, startSite } from './site.ts';

/** The user's reactions to the page. Ada opens it in her browser, because the terminal has none. */
const REACTIONS: Readonly<Record<AnswerKind, PageReaction>> = {
  metric: 'links',
  imperial: 'says no there',
  decline: 'declines',
  cancel: 'cancels',
  nonsense: 'forgets',
};

/** Each call has a site of its own, on real ports, and is ada's. */
export const demo: Demo = {
  subjects: [
    hostShape('g', 'tool builder', () => toolBuilder),
    hostShape('h', 'linear', (store) => (calendars) => waiting(calendars, store)),
    hostShape('j', 'journal', () => journalTool),
  ],
  calls: (answer) => [
    {
      call: { method: 'tools/call', params: { name: 'agenda', arguments: {} } },
      user: scriptedUser({}, ada(REACTIONS[answer])),
    },
  ],
};

function hostShape(id: string, title: string, shape: (store: ContinuationStore) => MakeTool): Subject {
  return {
    id,
    title,
    create: ({ policy }) => {
      const store = new ContinuationStore();
      let site: ReturnType<typeof startSite> | undefined;
      return {
        async fetch(request: Request) {
          site ??= startSite(shape(store), policy);
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
