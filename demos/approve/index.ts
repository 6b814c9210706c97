/** `@mrtr/demo-approve`: a tool that writes after a yes, in two shapes, and clients that try to give it. */
import { guardedSubject } from './asked-clients.ts';
import { createServer as journal } from './journal.ts';
import type { Where } from './site.ts';
import { createServer as toolBuilder } from './tool-builder.ts';
import type { CreateServer } from './tracker.ts';

export { ASKED_CLIENTS, callWith } from './asked-clients.ts';
export { type Site, siteOf } from './site.ts';

/** The two shapes, by their letters. */
export const SHAPES: readonly {
  readonly id: string;
  readonly title: string;
  readonly createServer: CreateServer;
}[] = [
  { id: 'g', title: 'tool builder', createServer: toolBuilder },
  { id: 'j', title: 'journal', createServer: journal },
];

const WHERE: Readonly<Record<Where, string>> = {
  form: '`approval`',
  'typed-form': '`approval` with `type`',
  page: '`approvalPage`',
};

/** The tool in both shapes, with each way to ask. Reopening an item needs the approval alone. */
export const GUARDED = Object.entries(WHERE).flatMap(([where, title]) =>
  SHAPES.map(({ id, createServer }) =>
    guardedSubject(`${title} in ${id.toUpperCase()}`, createServer, where as Where),
  ),
);
