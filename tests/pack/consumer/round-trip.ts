/**
 * Three tools of an outside author, each with another schema library, served over HTTP and called by real clients of
 * both eras. Prints the users' view, which must be the same in every module format, runtime and SDK.
 */

import { McpServer } from '@modelcontextprotocol/server';
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  MrtrError,
  protectedServer,
  requestStatePolicy,
  textResult,
} from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { converse, scriptedUser } from '@mrtr/harness';
import { serveHttp } from '@mrtr/hosting/http';
import { once } from '@mrtr/shapes/once';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

const log: string[] = [];
const policy = requestStatePolicy({ keys: ['a key of at least thirty-two bytes'], singleUse: false });

const sure = elicitation('Really deploy?', z.object({ sure: z.boolean() }));
const deploy = once(async ({ env }: { env: string }, ctx) => {
  const ticket = await ctx.once('ticket', () => log.push(`ticket for ${env}`));
  const answer = ctx.answer('sure', sure);
  if (isRefusal(answer)) return cancelledResult('sure');
  if (answer.kind !== 'accepted') return ask({ sure });
  return textResult(answer.value.sure ? `Deployed to ${env}, ticket ${ticket}.` : 'Left alone.');
});

const Units = type({ units: "'imperial' | 'metric'" });
const which = elicitation('Which units?', Units, { fallback: { units: 'metric' } });
const weather = new ToolBuilder<{ location: string }>()
  .incompleteStep('asked', () => which)
  .endStep(async ({ location }, { asked: { units } }) =>
    textResult(`${location}: ${units === 'metric' ? '21 °C' : '70 °F'}.`),
  )
  .build();

const Size = toStandardJsonSchema(v.object({ size: v.pipe(v.number(), v.integer()) }));
const order = new ToolBuilder<{ item: string }>()
  .incompleteStep('size', ({ item }) => elicitation(`Which size of ${item}?`, Size))
  .incompleteStep('confirm', ({ item }, { size: { size } }) =>
    elicitation(`Order ${item} in ${size}?`, z.object({ order: z.boolean() })),
  )
  .endStep(async ({ item }, { size: { size }, confirm }) =>
    textResult(confirm.order ? `Ordered: ${item}, ${size}.` : 'Nothing ordered.'),
  )
  .build();

function server(): McpServer {
  const made = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
  made.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, deploy);
  made.registerTool('weather', { inputSchema: type({ location: 'string' }) }, weather);
  const inputSchema = toStandardJsonSchema(v.object({ item: v.string() }));
  made.registerTool('order', { inputSchema }, order);
  return made;
}

const calls = [
  { name: 'deploy', arguments: { env: 'staging' }, user: scriptedUser({ sure: [true] }) },
  { name: 'deploy', arguments: { env: 'production' }, user: scriptedUser({ sure: [{ action: 'decline' }] }) },
  {
    name: 'weather',
    arguments: { location: 'Berlin' },
    user: scriptedUser({ units: ['kelvin', 'imperial'] }),
  },
  {
    name: 'order',
    arguments: { item: 'a shirt' },
    user: scriptedUser({ size: ['large', 42], order: [true] }),
  },
];

async function main(): Promise<void> {
  const refused: string[] = [];
  const stop = observe('mrtr:rejection', ({ reason }) => refused.push(reason));
  for (const client of ['modern', 'legacy'] as const) {
    for (const { user, ...params } of calls) {
      const hosting = await serveHttp({ server });
      const { end, events } = await converse(
        { client, call: { method: 'tools/call', params }, user },
        () => ({
          instances: ['shop'],
          endpoint: () => ({ kind: 'http', url: hosting.url }),
          framesHeld: async () => 0,
          close: () => hosting.close(),
        }),
      );
      const shown = events.flatMap((event) => (event.kind === 'question' ? [event.message] : []));
      console.log(JSON.stringify({ client, tool: params.name, shown, end }));
    }
  }
  stop();
  let mistake: unknown;
  try {
    requestStatePolicy({ keys: [''] });
  } catch (error) {
    mistake = error;
  }
  const named = mistake instanceof MrtrError ? mistake.code : mistake;
  console.log(JSON.stringify({ log, refused, named, oneSdk: server() instanceof McpServer }));
}

void main();
