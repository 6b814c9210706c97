/**
 * One process that both imports and requires our packages: two copies of each module, and of the SDK. Tools of one copy
 * run on servers of the other, rounds of one call reach both, and a call still asks once and writes once.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as sdk from '@modelcontextprotocol/server';
import * as imported from '@mrtr/core';
import { Conversation, host, recordEffect, scriptedUser } from '@mrtr/harness';
import { eventsOf } from '@mrtr/harness/transcript';
import * as journals from '@mrtr/shapes/journal';
import * as onces from '@mrtr/shapes/once';
import * as resolvers from '@mrtr/shapes/resolve';
import { z } from 'zod';

const require = createRequire(import.meta.url);
const required = require('@mrtr/core') as typeof imported;
const otherJournals = require('@mrtr/shapes/journal') as typeof journals;
const otherOnces = require('@mrtr/shapes/once') as typeof onces;
const otherResolvers = require('@mrtr/shapes/resolve') as typeof resolvers;
// The SDK serves only servers of its own copy.
const otherSdk = require('@modelcontextprotocol/server') as typeof sdk;
const otherHarness = require('@mrtr/harness') as { recordEffect: typeof recordEffect };

assert.notEqual(required.protectedServer, imported.protectedServer, 'The two formats have to be two copies.');

/** The packages of one call: the shapes of one copy, everything else of the other. */
interface Mix {
  readonly sdk: typeof sdk;
  readonly core: typeof imported;
  readonly author: typeof imported;
  readonly record: typeof recordEffect;
  readonly shapes: typeof journals & typeof onces & typeof resolvers;
  readonly resolver: typeof resolvers.resolver;
}

const MIXES: readonly Mix[] = [
  {
    sdk,
    core: imported,
    author: required,
    record: otherHarness.recordEffect,
    shapes: { ...otherJournals, ...otherOnces, ...otherResolvers },
    resolver: resolvers.resolver,
  },
  {
    sdk: otherSdk,
    core: required,
    author: imported,
    record: recordEffect,
    shapes: { ...journals, ...onces, ...resolvers },
    resolver: otherResolvers.resolver,
  },
];

const Sure = z.object({ sure: z.boolean() });
const inputSchema = z.object({ env: z.string() });
type Deploy = z.infer<typeof inputSchema>;

function server({ core, author, record, shapes, resolver }: Mix) {
  // No keys: both copies share the process's key ring and ledger.
  const made = core.protectedServer({ name: 'shop', version: '1.0.0' }, core.requestStatePolicy());
  const question = author.elicitation('Sure?', Sure);
  const once = shapes.once(async ({ env }: Deploy, ctx) => {
    await ctx.once('ticket', () => record('ticket', env));
    const answer = ctx.answer('sure', question);
    return answer.kind === 'accepted' ? author.textResult('Done.') : author.ask({ sure: question });
  });
  const journal = shapes.journal(
    async ({ env }: Deploy, ctx) => {
      await ctx.once('ticket', () => record('ticket', env));
      await ctx.ask('sure', question);
      return author.textResult('Done.');
    },
    { strict: true },
  );
  const sure = resolver('sure', {}, () => question);
  const resolve = shapes.resolve(inputSchema, { sure }, async ({ env }) => {
    record('ticket', env);
    return author.textResult('Done.');
  });
  for (const [name, callback] of Object.entries({ once, journal, resolve })) {
    made.registerTool(name, { inputSchema }, callback);
  }
  return made;
}

/** Calls a tool on two instances in turn, one per copy. Each retry comes twice, so it reaches both. */
async function call(name: string, reply: boolean | 'decline') {
  let made = 0;
  const conversation = await Conversation.start(
    { client: 'modern', call: { method: 'tools/call', params: { name, arguments: { env: 'staging' } } } },
    () =>
      host('fleet', () => {
        const mix = MIXES[made++ % 2] as Mix;
        return mix.sdk.createMcpHandler(() => server(mix));
      }),
  );
  const user = scriptedUser({ sure: [reply === 'decline' ? { action: reply } : reply] });
  const done = await conversation.first.answer(user);
  const again = await conversation.first.again();
  const { events } = await conversation.close();
  const count = (kind: 'question' | 'effect') => eventsOf(kind, events).length;
  const alike = JSON.stringify(again.end) === JSON.stringify(done.end);
  return { said: said(done), questions: count('question'), effects: count('effect'), alike };
}

function said({ end }: Conversation['first']): unknown {
  const result = end?.result;
  return result && 'content' in result && result.content;
}

const text = (said: string) => [{ type: 'text', text: said }];

async function main(): Promise<void> {
  const { now } = Date;
  const warnings: string[] = [];
  process.on('warning', ({ message }) => warnings.push(message));
  for (const name of ['once', 'journal', 'resolve']) {
    const [done, ...others] = await Promise.all([call(name, true), call(name, true)]);
    assert.deepEqual(done, { said: text('Done.'), questions: 1, effects: 1, alike: true }, name);
    assert.deepEqual(others, [done]);
  }
  const declined = await call('journal', 'decline');
  const cancelled = text("Cancelled: the question 'sure' was not answered.");
  assert.deepEqual(declined.said, cancelled, 'A shape knows the error of the other copy.');
  assert.equal(Date.now, now, 'The last strict handler of both copies puts the clock back.');
  for (const [core, other] of [
    [imported, required],
    [required, imported],
  ] as const) {
    const full = new core.StoreFull('x');
    assert.ok(full instanceof other.StoreFull && full instanceof other.MrtrError);
    assert.ok(!(full instanceof other.CannotAsk));
  }
  assert.equal(new Set(warnings).size, warnings.length, 'Each warning comes once.');
  console.log(
    'Both formats in one process: one key ring, one ledger, one question and one effect in each call.',
  );
}

void main();
