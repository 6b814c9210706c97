/** In any graph, each resolver runs once per entry, the rounds are the depth of questions, and no order matters. */

import { elicitation, type Question, textResult } from '@mrtr/core';
import { settle } from '@mrtr/harness/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Args, accept, type Caller, decline, Name, TestDeployment, tool } from '../fixture.test-support.ts';
import { type Needs, outcome, type Resolver, resolve, resolver } from './index.ts';

/** One resolver. It needs nodes before it, so there is no cycle. */
interface Node {
  readonly kind: 'value' | 'question' | 'refused question';
  /** `plain` or `outcome` for each earlier node that this one needs. */
  readonly needs: readonly (Wanted | undefined)[];
  /** Turns of the event loop that it takes. */
  readonly delay: number;
}
type Wanted = 'plain' | 'outcome';
type Graph = readonly Node[];

/** Facts that must not change the result: the order of declarations, and how long each resolver takes. */
interface Order {
  /** Declares the needs and the parameters from the last to the first. */
  readonly reversed: boolean;
  readonly delays: readonly number[];
}

const wanted = fc.constantFrom<Wanted | undefined>('plain', 'plain', 'outcome', undefined, undefined);
const node: fc.Arbitrary<Node> = fc.record({
  kind: fc.constantFrom<Node['kind']>('value', 'question', 'question', 'refused question'),
  needs: fc.array(wanted, { minLength: 7, maxLength: 7 }),
  delay: fc.integer({ min: 0, max: 3 }),
});
const graphs: fc.Arbitrary<Graph> = fc
  .array(node, { minLength: 1, maxLength: 7 })
  .map((nodes) => nodes.map((one, at) => ({ ...one, needs: one.needs.slice(0, at) })));
const orders: fc.Arbitrary<Order> = fc.record({
  reversed: fc.boolean(),
  delays: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 7 }),
});

const needsOf = ({ needs }: Node) => needs.flatMap((how, at) => (how === undefined ? [] : [{ at, how }]));

/** The value of a node, and its round (from 0), if all questions are answered as soon as they are asked. */
interface Expected {
  readonly value: string | undefined;
  readonly round: number;
}

function expectationsOf(graph: Graph): readonly Expected[] {
  const all: Expected[] = [];
  for (const [at, one] of graph.entries()) {
    const below = needsOf(one).map((need) => ({ ...need, ...(all[need.at] as Expected) }));
    const refusals = below.filter(({ how, value }) => how === 'plain' && value === undefined);
    const ready = Math.max(0, ...below.map(({ round }) => round));
    const given = below.map(({ at, how, value }) => describeNeed(at, how, value)).join();
    if (refusals.length > 0) {
      all.push({ value: undefined, round: Math.min(...refusals.map(({ round }) => round)) });
    } else if (one.kind === 'value') {
      all.push({ value: `v${at}(${given})`, round: ready });
    } else {
      const value = one.kind === 'question' ? `answer to q${at}(${given})` : undefined;
      all.push({ value, round: ready + 1 });
    }
  }
  return all;
}

const describeNeed = (at: number, how: Wanted, value: string | undefined) =>
  how === 'plain' ? `${at}=${value}` : `${at}:${value ?? 'declined'}`;

/** The graph as resolvers, and how often each has run in this entry. */
function declareGraph(graph: Graph, { reversed, delays }: Order) {
  const runs: number[] = graph.map(() => 0);
  const inOrder = <T>(list: readonly T[]) => (reversed ? [...list].reverse() : list);
  const resolvers: Resolver<unknown>[] = [];
  for (const [at, one] of graph.entries()) {
    const below = needsOf(one);
    const needs = inOrder(below).map(({ at, how }) => {
      const needed = resolvers[at] as Resolver<unknown>;
      return [`n${at}`, how === 'plain' ? needed : outcome(needed)] as const;
    });
    resolvers.push(
      resolver(`r${at}`, Object.fromEntries(needs) as Needs, async (filled): Promise<string | Question> => {
        runs[at] = (runs[at] ?? 0) + 1;
        await settle(delays[at] ?? one.delay);
        const given = below.map(({ at, how }) => describeNeed(at, how, textOf(filled[`n${at}`], how))).join();
        return one.kind === 'value' ? `v${at}(${given})` : elicitation(`q${at}(${given})`, Name);
      }),
    );
  }
  const params = inOrder(
    resolvers.map((one, at): [string, ReturnType<typeof outcome>] => [`p${at}`, outcome(one)]),
  );
  return { runs, params: Object.fromEntries(params) };
}

/** The text in the value that filled a need: its own, or an answer's. */
function textOf(filled: unknown, how: Wanted): string | undefined {
  if (how === 'plain') return typeof filled === 'string' ? filled : (filled as { name: string }).name;
  const { kind, value } = filled as { kind: string; value?: unknown };
  return kind === 'accepted' ? textOf(value, 'plain') : undefined;
}

/** Makes the rounds of one call, and returns its result. */
async function call(client: Caller, graph: Graph, runs: number[]) {
  const entries: number[][] = [];
  const refused = new Set(graph.flatMap(({ kind }, at) => (kind === 'refused question' ? [`r${at}`] : [])));
  let seen = await client.send();
  entries.push(runs.splice(0, graph.length, ...graph.map(() => 0)));
  while (seen.asks) {
    const responses = Object.entries(seen.asks).map(([key, message]) => [
      key,
      refused.has(key) ? decline : accept({ name: `answer to ${message}` }),
    ]);
    seen = await client.answer(seen, Object.fromEntries(responses));
    entries.push(runs.splice(0, graph.length, ...graph.map(() => 0)));
  }
  return { says: JSON.parse(seen.says ?? '{}') as Record<string, unknown>, entries };
}

test('in every graph a resolver runs once per entry, rounds are the depth of questions, and no order matters', async () => {
  const site = new TestDeployment(() => {}, { limits: { rounds: 100 } });
  const client = await site.connect();
  await fc.assert(
    fc.asyncProperty(graphs, fc.array(orders, { minLength: 1, maxLength: 2 }), async (graph, others) => {
      const expected = expectationsOf(graph);
      const depth = Math.max(...expected.map(({ round }) => round));
      for (const order of [{ reversed: false, delays: [] }, ...others]) {
        const { runs, params } = declareGraph(graph, order);
        site.deploy(
          tool(
            resolve(Args, params, (args) =>
              textResult(JSON.stringify(describeParameters(args as Record<string, unknown>))),
            ),
          ),
        );
        const { says, entries } = await call(client, graph, runs);
        expect(says).toEqual(
          Object.fromEntries(expected.map(({ value = 'declined' }, at) => [`p${at}`, value])),
        );
        expect(entries).toHaveLength(depth + 1);
        expect(Math.max(...entries.flat())).toBeLessThanOrEqual(1);
        // In the last entry all resolvers run, except those whose needs were refused.
        const able = graph.map((one) =>
          needsOf(one).some(({ at, how }) => how === 'plain' && expected[at]?.value === undefined) ? 0 : 1,
        );
        expect(entries.at(-1)).toEqual(able);
      }
    }),
    { numRuns: 60 },
  );
});

/** The text of each parameter's value. */
function describeParameters(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const params = Object.keys(args).filter((key) => key.startsWith('p'));
  return Object.fromEntries(params.map((key) => [key, textOf(args[key], 'outcome') ?? 'declined']));
}
