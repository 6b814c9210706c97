/** The property of arbitrary requests: the server answers each, stays healthy, and leaks nothing. */
import { isDeepStrictEqual } from 'node:util';
import { requestStatePolicy } from '@mrtr/core';
import { createWorld } from '@mrtr/example-tools';
import { callerNamed, InProcess } from '@mrtr/harness';
import type { Option } from '@mrtr/option';
import fc from 'fast-check';
import { hostileAnswers } from './hostile-answers.ts';
import { hostileJson, hostileRecord, hostileText } from './hostile-values.ts';
import { SECRET, sound } from './servers.ts';

/** Methods without state, and the parameters that honest clients send with them. */
const STATELESS: readonly (readonly [string, object])[] = [
  ['tools/list', {}],
  ['ping', {}],
  ['server/discover', {}],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'none' }, argument: { name: 'a', value: 'b' } }],
  ['prompts/get', { name: 'none' }],
  ['resources/read', { uri: 'none://' }],
  ['no/such/method', {}],
];

const anyState = fc.oneof(
  hostileJson,
  hostileText,
  fc.constantFrom('v1.', `v1.${'A'.repeat(75)}`, 'v1.AAAA~i1'),
);
/** Members of params. Some cannot come from JSON.stringify, so they are inserted as text. */
const raw = fc.constantFrom(
  ...['1e999', '-0', '"\\ud800"', '{"__proto__":{"requestState":"v1."}}', '{"a":1,"a":2}'],
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
);

const posts = fc.record({
  stateless: fc.option(fc.constantFrom(...STATELESS), { nil: undefined }),
  name: fc.oneof(fc.constantFrom('get_weather', 'resolve_work_item', '__proto__', 'constructor', 'toString')),
  args: fc.oneof(
    {
      weight: 2,
      arbitrary: fc.constantFrom<unknown>({ location: 'Tokyo' }, { id: 4522, state: 'Resolved' }),
    },
    hostileRecord,
    hostileJson,
  ),
  retry: fc.record(
    { requestState: anyState, inputResponses: fc.oneof(hostileAnswers, hostileJson) },
    { requiredKeys: [], noNullPrototype: true },
  ),
  more: fc.option(fc.tuple(fc.constantFrom('requestState', 'inputResponses', 'arguments', 'other'), raw), {
    nil: undefined,
    freq: 2,
  }),
  old: fc.boolean(),
  principal: fc.constantFrom(undefined, 'ada'),
});

export function onlySoundReplies(option: Option) {
  const state = requestStatePolicy({ keys: [SECRET] });
  return fc.asyncProperty(posts, async ({ stateless, name, args, retry, more, old, principal }) => {
    const world = createWorld();
    const running = option.create({ world, state });
    const site = new InProcess(() => running.server());
    const options = { legacy: old, authInfo: principal === undefined ? undefined : callerNamed(principal) };
    const [method, plain] = stateless ?? ['tools/call', { name, arguments: args }];
    const text = JSON.stringify({ ...plain, ...retry });
    const extended = more ? `${text.slice(0, -1)}${text === '{}' ? '' : ','}"${more[0]}":${more[1]}}` : text;
    try {
      const came = sound(await site.post(method, extended, options));
      if (!came.result && !came.error) throw new Error(`No answer: ${came.text}`);
      if (stateless?.[0] === 'tools/list' && came.result) {
        const without = await site.post(method, plain as Record<string, unknown>, options);
        if (!isDeepStrictEqual(came.result, without.result))
          throw new Error('State changes the result of a method without state.');
      }
      if (stateless && world.audit.entries.length + world.items.writes.length > 0) {
        throw new Error(`${method} has an effect.`);
      }
    } finally {
      await site.close();
      await running.close();
    }
  });
}
