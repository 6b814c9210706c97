/** A whole call with all its requests, against the documented style and against an empty handler. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { poster } from '@mrtr/harness';
import { call, WEATHER } from './call.ts';
import { type Benchmark, type Figure, ratioFigure } from './figures.ts';
import { type Contestant, type Pace, race } from './race.ts';
import { SHAPES, servers, withoutSingleUse } from './subjects.ts';

const MANY = 32;

async function contestant(name: string, atOnce: number): Promise<Contestant> {
  const post = poster(createMcpHandler(await servers(name)));
  return { name, run: () => Promise.all(Array.from({ length: atOnce }, () => call(post, WEATHER))) };
}

/** F and G read their state. I and J keep a journal, and H a frame. */
const ONE_AT_A_TIME: Readonly<Record<string, number>> = { h: 1.55, i: 1.5, j: 1.5 };
const goalOf = (id: string, atOnce: number): number => (atOnce > 1 ? 1.3 : (ONE_AT_A_TIME[id] ?? 1.4));

async function compare(atOnce: number, pace: Pace): Promise<readonly Figure[]> {
  const remembered = 'empty, schema remembered';
  const names = ['documented', 'empty', remembered, ...SHAPES, ...SHAPES.map(withoutSingleUse)];
  const result = await race(await Promise.all(names.map((name) => contestant(name, atOnce))), pace);
  const at = atOnce === 1 ? 'one at a time' : `${atOnce} in flight`;
  const microseconds = (what: string, name: string): Figure => ({
    what: `${at}, ${what}`,
    unit: 'µs',
    value: result.median(name) / atOnce,
  });
  return [
    ...SHAPES.map((id) =>
      ratioFigure(`${id.toUpperCase()}, ${at} ÷ empty handler`, result, id, 'empty', goalOf(id, atOnce)),
    ),
    ...SHAPES.map((id) => {
      const what = `${id.toUpperCase()}, ${at} without single use ÷ empty handler`;
      return ratioFigure(what, result, withoutSingleUse(id), 'empty');
    }),
    ratioFigure(
      `${at}, empty handler that converts its schema once ÷ empty handler`,
      result,
      remembered,
      'empty',
    ),
    ...SHAPES.map((id) =>
      ratioFigure(`${id.toUpperCase()}, ${at} ÷ documented style`, result, id, 'documented'),
    ),
    microseconds('documented style', 'documented'),
    microseconds('empty handler', 'empty'),
  ];
}

export const wholeCall: Benchmark = {
  name: 'whole-call',
  title: 'A whole call, in process',
  note:
    'Requests are posted by hand to `createMcpHandler`; the same client on both sides. The documented style binds its ' +
    'state to method and client.',
  async run(pace) {
    const longer = { ...pace, sliceMs: pace.sliceMs * 2, warmupMs: pace.warmupMs * 4 };
    return [...(await compare(1, longer)), ...(await compare(MANY, longer))];
  },
};
