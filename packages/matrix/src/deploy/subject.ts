/**
 * The tool in one shape and one version, as a server. Another process loads it as `subject.ts?shape=f&change=reworded`:
 * each address is a module of its own.
 */
import { protectedServer, type RequestStatePolicy } from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import type { OptionDeps, RunningOption } from '@mrtr/option';
import { ContinuationStore, type LinearStore } from '@mrtr/shapes/linear';
import { z } from 'zod';
import type { Change } from './code/changes.ts';
import { CHANGES, type Code } from './code/code.ts';
import { writeB } from './shapes/b.ts';
import { writeF } from './shapes/f.ts';
import { writeG } from './shapes/g.ts';
import { branching, byRevision, guardFirst } from './shapes/guard-first.ts';
import { waiting } from './shapes/h.ts';
import { writeI } from './shapes/i.ts';
import { writeJ } from './shapes/j.ts';

/** The shapes that are measured. */
export const SHAPES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'h-postgres', 'i', 'j'] as const;
export type ShapeId = (typeof SHAPES)[number];

/** The name of the tool. */
export const ORDER = 'order';
/** The name of its server. */
export const ORDERS = 'orders';

/** Makes a server instance of the tool. */
export const deploy = (shape: ShapeId, change: Change) => ({
  create: ({ world, state, postgres }: OptionDeps): RunningOption => {
    const code = CHANGES[change];
    const store =
      shape === 'h' ? new ContinuationStore() : shape === 'h-postgres' ? durable(state, postgres) : undefined;
    const handler = handlerOf(shape, code, world, store);
    return {
      server: () => {
        const policy = shape === 'a' ? state.with({ legacy: 'shim' }) : state;
        const server = protectedServer({ name: ORDERS, version: code.version }, policy);
        server.registerTool(ORDER, { inputSchema: z.object({}) }, handler as never);
        return server;
      },
      framesHeld: () => store?.parked ?? 0,
      close: async () => store?.close(),
    };
  },
});

function handlerOf(shape: ShapeId, code: Code, world: World, store: LinearStore | undefined) {
  switch (shape) {
    case 'b':
      return writeB(code, world);
    case 'c':
      return branching(code, world);
    case 'd':
      return byRevision(code, world);
    case 'a':
    case 'e':
      return guardFirst(code, world);
    case 'f':
      return writeF(code, world);
    case 'g':
      return writeG(code, world);
    case 'h':
    case 'h-postgres':
      return waiting(code, world, store as LinearStore);
    case 'i':
      return writeI(code, world);
    case 'j':
      return writeJ(code, world);
  }
}

/** Both versions of the code have the same `version` here, as when an author forgets to change it. */
function durable(policy: RequestStatePolicy, postgres = ''): LinearStore {
  const opened = import('@mrtr/linear-dbos').then(({ DbosStore }) =>
    DbosStore.open({ policy, postgres, version: 'orders', onerror: () => {} }),
  );
  opened.catch(() => {});
  return {
    round: async (round) => (await opened).round(round),
    parked: 0,
    close: async () => (await opened).close(),
  };
}

const { searchParams } = new URL(import.meta.url);
/**
 * The subject that the module's address names.
 *
 * @public another process loads it.
 */
export const option = deploy(
  (searchParams.get('shape') ?? 'e') as ShapeId,
  (searchParams.get('change') ?? 'nothing') as Change,
);
