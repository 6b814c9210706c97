/**
 * Prints which objects of two requests do not have one fast hidden class. Needs `--allow-natives-syntax`, and a process
 * of its own, in which no other code has made objects of the same members.
 */
import { createMcpHandler, type ServerContext } from '@modelcontextprotocol/server';
import { GET_WEATHER, getWeatherTool, SERVER_INFO, Units } from '@mrtr/comparison';
import { ask, elicitation, protectedServer, textResult } from '@mrtr/core';
import { poster } from '@mrtr/harness';
import { once } from '@mrtr/shapes/once';
import { call, WEATHER } from '../call.ts';
import { policy } from '../subjects.ts';

const haveOneHiddenClass = new Function(
  'one',
  'other',
  'return %HasFastProperties(one) && %HaveSameMap(one, other)',
);

const units = elicitation('Which units?', Units);
const requests: Readonly<Record<'context' | 'mcpReq' | 'stamp', object>>[] = [];

function stampIn({ mcpReq }: ServerContext): object {
  const answer = mcpReq.inputResponses?.units ?? {};
  return Object.getOwnPropertySymbols(answer).map((symbol) => Reflect.get(answer, symbol))[0] ?? {};
}

const shared = policy();
const post = poster(
  createMcpHandler(() => {
    const server = protectedServer(SERVER_INFO, shared);
    const handler = once<unknown, ReturnType<typeof textResult>>((_input, context) => {
      if (context.answer('units', units).kind !== 'accepted') return ask({ units });
      requests.push({ context, mcpReq: context.request.mcpReq, stamp: stampIn(context.request) });
      return textResult('Done.');
    });
    server.registerTool(GET_WEATHER, getWeatherTool, handler);
    return server;
  }),
);
for (let calls = 0; calls < 5; calls++) await call(post, WEATHER);

const [one, other] = requests.slice(-2);
if (!one || !other || !('argumentsDigest' in other.stamp)) throw new Error('No answer with a stamp came.');
const parts = Object.keys(one) as (keyof typeof one)[];
const slow = parts.filter((part) => !haveOneHiddenClass(one[part], other[part]));
process.stdout.write(JSON.stringify({ looked: parts, slow }), () => process.exit());
