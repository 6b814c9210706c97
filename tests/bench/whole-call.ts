/** A whole call with all its requests, against the documented style and against an empty handler. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { poster } from '@mrtr/harness';
import { call, WEATHER } from './call.ts';
import { type Benchmark, type Figure, ratioFigure } from './figures.ts';
import { type Contestant, type Pace, type Race, race } from './race.ts';
import { REMEMBERED, SHAPES, servers, withoutSingleUse } from './subjects.ts';

const MANY = 32;

async function contestant(name: string, atOnce: number): Promise<Contestant> {
  const post = poster(createMcpHandler(await servers(name)));
  return { name, run: () => Promise.all(Array.from({ length: atOnce }, () => call(post, WEATHER))) };
}

/** F and G read their state. I and J keep a journal, and H a frame. */
const ONE_AT_A_TIME: Readonly<Record<string, number>> = { h: 1.55, i: 1.5, j: 1.5 };
const goalOf = (id: string, atOnce: number): number => (atOnce > 1 ? 1.3 : (ONE_AT_A_TIME[id] ?? 1.4));

async function raceCalls(atOnce: number, others: readonly string[], pace: Pace): Promise<Race> {
  const names = ['empty', ...SHAPES, ...others];
  // Node compiles code for speed only after some thousand calls.
  const longer = { ...pace, sliceMs: pace.sliceMs * 2, warmupMs: pace.warmupMs * 12 };
  return race(await Promise.all(names.map((name) => contestant(name, atOnce))), longer);
}

const ratiosOf = (result: Race, atOnce: number): readonly Figure[] =>
  SHAPES.map((id) =>
    ratioFigure(`${id.toUpperCase()}, ÷ empty handler`, result, id, 'empty', goalOf(id, atOnce)),
  );

export const wholeCall: Benchmark = {
  name: 'whole-call',
  title: 'A whole call in process, one at a time',
  note: 'Requests are posted to `createMcpHandler` without a client.',
  async run(pace) {
    const result = await raceCalls(1, ['documented', REMEMBERED, ...SHAPES.map(withoutSingleUse)], pace);
    return [
      ...ratiosOf(result, 1),
      ...SHAPES.map((id) => ratioFigure(`${id.toUpperCase()}, ÷ documented style`, result, id, 'documented')),
      ...SHAPES.map((id) => {
        const what = `${id.toUpperCase()}, without single use ÷ empty handler`;
        return ratioFigure(what, result, withoutSingleUse(id), 'empty');
      }),
      ratioFigure('empty handler that converts its schema once ÷ empty handler', result, REMEMBERED, 'empty'),
      { what: 'documented style', unit: 'µs', value: result.median('documented') },
      { what: 'empty handler', unit: 'µs', value: result.median('empty') },
    ];
  },
};

export const inFlight: Benchmark = {
  name: 'in-flight',
  title: `A whole call in process, ${MANY} in flight`,
  run: async (pace) => ratiosOf(await raceCalls(MANY, [], pace), MANY),
};
