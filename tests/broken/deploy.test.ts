/** The measurement of a deploy fails on tools with exactly the faults that it must detect. */

import type { World } from '@mrtr/comparison';
import type { Change } from '@mrtr/comparison/claims';
import { findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { ask, protectedServer, readAnswer, type ServerContext } from '@mrtr/core';
import {
  callThroughDeploy,
  type deploy,
  inMemory,
  type Moment,
  ORDER,
  outcomeOf,
  outlineOf,
} from '@mrtr/matrix/deploy';
import { isAsk, isEffect } from '@mrtr/matrix/outlines';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { faultsOf } from '../deploy/faults.ts';

type Tool = (change: Change, world: World) => (input: unknown, ctx: ServerContext) => Promise<unknown>;

async function played(tool: Tool, change: Change, moment: Moment = 'answered') {
  const make: typeof deploy = (_option, of) => ({
    create: ({ world, policy }) => ({
      server: () => {
        const server = protectedServer({ name: 'orders', version: '1' }, policy);
        server.registerTool(ORDER, { inputSchema: z.object({}) }, tool(of, world) as never);
        return server;
      },
      close: async () => {},
    }),
  });
  const one = { option: await loadOption(findOption('e') as ListedOption), change, moment };
  const transcript = await callThroughDeploy(one, inMemory(undefined, make));
  return { outcome: outcomeOf(transcript), faults: faultsOf(one, transcript).join() };
}

/** A guard-first tool, with `twist` changing the returned state and running above the guard. */
const twisted =
  (twist: {
    readonly read?: (state: Record<string, unknown>, change: Change) => Record<string, unknown>;
    readonly above?: (world: World) => Promise<unknown>;
  }): Tool =>
  (change, world) =>
  async (_input, ctx) => {
    const { steps, end } = outlineOf(change, world);
    await twist.above?.(world);
    const state = JSON.parse(ctx.mcpReq.requestState<string>() ?? '{}');
    const kept = twist.read?.(state, change) ?? state;
    for (const [key, question] of steps.filter(isAsk).flatMap(({ asks }) => Object.entries(asks))) {
      if (kept[key] !== undefined) continue;
      const answer = readAnswer(ctx, key, question);
      if (answer.kind !== 'accepted') {
        return ask({ [key]: question }, { state: kept });
      }
      kept[key] = answer.value;
    }
    const data = { ...kept };
    for (const { does, run } of steps.filter(isEffect)) data[does] = await run();
    return end(data);
  };

test('an effect that happens twice is noticed', async () => {
  const { outcome } = await played(twisted({ above: (world) => world.audit.record('ticket') }), 'nothing');
  expect(outcome).toBe('repeats');
});

test('an answer that version 2 does not allow is noticed', async () => {
  const { outcome, faults } = await played(twisted({}), 'narrowed');
  expect(outcome).toBe('finishes');
  expect(faults).toBe('the size is M, which this version does not allow');
});

test('a wrong value is noticed', async () => {
  const { faults } = await played(
    twisted({ read: ({ size }) => (size ? { size: { size: 'L' } } : {}) }),
    'widened',
  );
  expect(faults).toContain('and "Ordered: colour red, size M, ticket T1." is right');
});

test('a crash is noticed', async () => {
  const crashing = twisted({
    read: (state, change) => {
      if (change === 'renamed' && Object.keys(state).length > 0) throw new TypeError('fit is not here');
      return state;
    },
  });
  expect(await played(crashing, 'renamed')).toEqual({
    outcome: 'rejects',
    faults: 'it fails with: fit is not here',
  });
});

test('an effect of a call that is rejected is noticed', async () => {
  const late = twisted({
    read: (state) => {
      if (Object.keys(state).length > 0) throw new Error('This call cannot be resumed.');
      return state;
    },
    above: (world) => world.audit.record('order'),
  });
  expect((await played(late, 'nothing')).faults).toContain('it is rejected, and does order');
});
