/** `@mrtr/demo-link-account`: a tool that has its user link an account on another site, in three shapes, ready to be run. */

import type { Subject } from '@mrtr/matrix';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { createServer as journal } from './journal.ts';
import { createServerOn } from './linear.ts';
import { type CreateServer, type Site, startSite } from './site.ts';
import { createServer as toolBuilder } from './tool-builder.ts';
import { SECRETS } from './users.ts';

/** The three, by their letters. Each conversation has a site of its own, on real ports, and is ada's. */
export const SHAPES: readonly Subject[] = [
  hostShape('g', 'tool builder', () => ({ createServer: toolBuilder })),
  hostShape('h', 'linear', () => {
    const store = new ContinuationStore();
    return {
      createServer: createServerOn(store),
      framesHeld: () => store.parked,
      close: () => store.close(),
    };
  }),
  hostShape('j', 'journal', () => ({ createServer: journal })),
];

interface Shape {
  readonly createServer: CreateServer;
  readonly framesHeld?: () => number;
  readonly close?: () => void;
}

function hostShape(id: string, title: string, shape: () => Shape): Subject {
  return {
    id,
    title,
    create: ({ state }) => {
      const { createServer, framesHeld, close } = shape();
      let site: Promise<Site> | undefined;
      return {
        async fetch(request: Request) {
          // So that a forgetful user is soon asked again.
          site ??= startSite(createServer, state, { waitSeconds: 1 });
          const headers = new Headers(request.headers);
          headers.set('authorization', `Bearer ${SECRETS.ada}`);
          const body = request.method === 'POST' && { body: await request.text() };
          return fetch((await site).url, { method: request.method, headers, ...body });
        },
        ...(framesHeld && { framesHeld }),
        close: async () => {
          await (await site)?.close();
          close?.();
        },
      };
    },
  };
}
