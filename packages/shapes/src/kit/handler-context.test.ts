import { setFlagsFromString } from 'node:v8';
import { ask } from '@mrtr/core';
import { expect, test } from 'vitest';
import { metric, TestDeployment, tool, units } from '../fixture.test-support.ts';
import { once } from '../once/once.ts';
import type { HandlerContext } from './handler-context.ts';

setFlagsFromString('--allow-natives-syntax');
const haveOneHiddenClass = new Function(
  'one',
  'other',
  'return %HasFastProperties(one) && %HaveSameMap(one, other)',
);

// V8 makes an object a slow dictionary if its getter is another function than that of the object before, and keeps the whole
// request of a getter until a major collection.
test('contexts of one tool have one hidden class, and so have their requests and their stamps', async () => {
  const contexts: HandlerContext[] = [];
  const site = new TestDeployment(
    tool(
      once((_args, ctx) => {
        contexts.push(ctx);
        const { kind } = ctx.answer('units', units);
        return kind === 'accepted' ? { content: [] } : ask({ units });
      }),
    ),
  );
  for (let calls = 0; calls < 3; calls++) {
    const client = await site.connect();
    await client.answer(await client.send(), { units: metric });
  }
  const stampOf = ({ request }: HandlerContext) => {
    const answer = request.mcpReq.inputResponses?.units as object;
    const [symbol] = Object.getOwnPropertySymbols(answer);
    return symbol && Reflect.get(answer, symbol);
  };
  const [, , , one, , other] = contexts;
  if (!one || !other) throw new Error(`The handler was entered ${contexts.length} times, and not six.`);
  expect(haveOneHiddenClass(one, other)).toBe(true);
  expect(haveOneHiddenClass(one.request.mcpReq, other.request.mcpReq)).toBe(true);
  expect(stampOf(one)?.argumentsDigest).toMatch(/^[\w-]{43}$/);
  expect(haveOneHiddenClass(stampOf(one), stampOf(other))).toBe(true);
});
