/** The code of docs/deploying.md, with calls that began on version 1. */
import {
  ask,
  elicitation,
  protectedServer,
  type RequestStatePolicy,
  readAnswer,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { InProcess } from '@mrtr/harness';
import { once } from '@mrtr/shapes/once';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { REJECTED } from '../testkit/rejected.ts';
import * as versionTwo from './examples/guard-first.ts';
import * as onceTwo from './examples/once.ts';
import { before, byTool, compatible, incompatible } from './examples/policies.ts';

const size = elicitation('Which size?', z.object({ size: z.enum(['S', 'M', 'L']) }));
const colour = elicitation('Which colour?', z.object({ colour: z.enum(['red', 'blue']) }));

/** Version 1 of the guard-first tool, which keeps only the size. */
function orderOne(_input: unknown, ctx: ServerContext) {
  const answer = readAnswer(ctx, 'size', size);
  if (answer.kind !== 'accepted') return ask({ size });
  return ask({ colour }, { state: answer.value });
}

function site(policy: RequestStatePolicy, order: unknown) {
  const served = new InProcess(() => {
    const server = protectedServer({ name: 'orders', version: '1' }, policy);
    server.registerTool('order', { inputSchema: z.object({}) }, order as never);
    return server;
  });
  onTestFinished(() => served.close());
  return (requestState?: unknown, inputResponses?: object) =>
    served.post('tools/call', {
      name: 'order',
      arguments: {},
      ...(requestState !== undefined && { requestState, inputResponses }),
    });
}

const accept = (content: object) => ({ action: 'accept', content });
const says = (text: string) => ({ result: expect.objectContaining({ content: [{ type: 'text', text }] }) });

/** The state of a version 1 call that asks for the colour. */
async function askedForColour(policy = before) {
  const one = site(policy, orderOne);
  const first = await one();
  const second = await one(first.result?.requestState, { size: accept({ size: 'M' }) });
  return second.result?.requestState;
}

test('a default in the schema takes a call of version 1 over', async () => {
  const two = site(compatible, versionTwo.order);
  const done = await two(await askedForColour(), { colour: accept({ colour: 'red' }) });
  expect(done).toMatchObject(says('M, red, to eu.'));
});

test('a policy that does not accept version 1 rejects its calls', async () => {
  const answers = { colour: accept({ colour: 'red' }) };
  const state = await askedForColour();
  expect(await site(incompatible, versionTwo.order)(state, answers)).toMatchObject({ error: REJECTED });
  const one = await askedForColour(byTool('1'));
  expect(await site(byTool('2'), versionTwo.order)(one, answers)).toMatchObject({ error: REJECTED });
  expect(await site(byTool('1'), versionTwo.order)(one, answers)).toMatchObject(says('M, red, to eu.'));
});

test('a schema takes the recorded value of an effect over, which does not happen again', async () => {
  const one = site(
    before,
    once(async (_input: unknown, ctx) => {
      const ticket = await ctx.once('ticket', () => 'T1');
      return ctx.answer('size', size).kind === 'accepted' ? textResult(ticket) : ask({ size });
    }),
  );
  const asked = await one();
  const again = async () => {
    throw new Error('It happens again.');
  };
  const done = await site(compatible, onceTwo.order(again))(asked.result?.requestState, {
    size: accept({ size: 'L' }),
  });
  expect(done).toMatchObject(says('L, ticket T1 in all.'));
});
