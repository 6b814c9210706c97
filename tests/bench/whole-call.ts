/** A whole call with all its requests, against the documented style and against an empty handler. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { again, type Contestant, type Pace, race, withTwin } from './race.ts';
import { noiseOf } from './statistics.ts';
import { call, inProcess, weather } from './subject/call.ts';
import { documented } from './subject/documented.ts';
import { empty } from './subject/empty.ts';
import { running, SHAPES } from './subject/options.ts';
import { forgetfulWorld } from './subject/world.ts';

const MANY = 32;

async function compare(atOnce: number, pace: Pace): Promise<readonly Figure[]> {
  const contestant = (name: string, server: Parameters<typeof createMcpHandler>[0]): Contestant => {
    const exchange = inProcess(createMcpHandler(server));
    const one = () => call(exchange, weather);
    return { name, run: atOnce === 1 ? one : () => Promise.all(Array.from({ length: atOnce }, one)) };
  };
  const options = SHAPES.map((option) => {
    const { server } = running(option);
    return contestant(option.id, () => server());
  });
  const result = await race(
    withTwin([
      contestant('documented', documented(forgetfulWorld())),
      contestant('empty', empty),
      ...options,
    ]),
    pace,
  );
  const noise = noiseOf(result.ratio(again('documented'), 'documented'));
  const at = atOnce === 1 ? 'one at a time' : `${atOnce} in flight`;
  const microseconds = (what: string, name: string): Figure => ({
    what: `${at}, ${what}`,
    unit: 'µs',
    value: result.microseconds(name) / atOnce,
  });
  return [
    ...SHAPES.flatMap(({ id }) => [
      ratioFigure(`${id.toUpperCase()}, ${at} ÷ documented style`, result.ratio(id, 'documented')),
      ratioFigure(
        `${id.toUpperCase()}, ${at} ÷ empty handler`,
        result.ratio(id, 'empty'),
        { most: 1.35 },
        noise,
      ),
    ]),
    ratioFigure(`Empty handler, ${at} ÷ documented style`, result.ratio('empty', 'documented')),
    microseconds('documented style', 'documented'),
    microseconds('empty handler', 'empty'),
  ];
}

export const wholeCall: Benchmark = {
  name: 'whole-call',
  title: 'A whole call, in process',
  async run({ pace }) {
    const longer = { ...pace, sliceMs: pace.sliceMs * 2, warmupMs: pace.warmupMs * 4 };
    const figures: Figure[] = [];
    for (const atOnce of [1, MANY]) figures.push(...(await compare(atOnce, longer)));
    const note =
      'Requests are posted by hand to `createMcpHandler`; the same client on both sides. The documented style binds its ' +
      'state to method and client.';
    return { figures, note };
  },
};
