/** Goal 2: a whole call with all its requests, against the documented style and against an empty handler. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { again, type Contestant, type Pace, race, withTwin } from './race.ts';
import { noiseOf } from './statistics.ts';
import { call, inProcess, type Plan, weather, workItem } from './subject/call.ts';
import { documented } from './subject/documented.ts';
import { empty } from './subject/empty.ts';
import { running, SHAPES } from './subject/options.ts';
import { forgetfulWorld } from './subject/world.ts';

const MANY = 32;

interface Comparison {
  readonly plan: Plan;
  readonly title: string;
  readonly atOnce: number;
}

async function compare({ plan, title, atOnce }: Comparison, pace: Pace): Promise<readonly Figure[]> {
  const contestant = (name: string, server: Parameters<typeof createMcpHandler>[0]): Contestant => {
    const exchange = inProcess(createMcpHandler(server));
    const one = () => call(exchange, plan);
    return { name, run: atOnce === 1 ? one : () => Promise.all(Array.from({ length: atOnce }, one)) };
  };
  const options = SHAPES.map((option) => {
    const { server } = running(option);
    return contestant(option.id, () => server());
  });
  const result = await race(
    withTwin([
      contestant('documented', documented(forgetfulWorld())),
      contestant('unbound', documented(forgetfulWorld(), { bound: false })),
      contestant('empty', empty),
      ...options,
    ]),
    pace,
  );
  const noise = noiseOf(result.ratio(again('documented'), 'documented'));
  const at = `${title}, ${atOnce === 1 ? 'one at a time' : `${atOnce} in flight`}`;
  const microseconds = (what: string, name: string): Figure => ({
    what: `${at}, ${what}`,
    unit: 'µs',
    value: result.microseconds(name) / atOnce,
  });
  return [
    ...SHAPES.flatMap(({ id }) => [
      ratioFigure(
        `${id.toUpperCase()}, ${at} ÷ documented style`,
        result.ratio(id, 'documented'),
        { most: atOnce === 1 ? 0.65 : 0.5 },
        noise,
      ),
      ratioFigure(`${id.toUpperCase()}, ${at} ÷ documented style without bind`, result.ratio(id, 'unbound')),
      ratioFigure(
        `${id.toUpperCase()}, ${at} ÷ empty handler`,
        result.ratio(id, 'empty'),
        { most: 1.12 },
        noise,
      ),
    ]),
    ratioFigure(`Empty handler, ${at} ÷ documented style`, result.ratio('empty', 'documented')),
    microseconds('documented style', 'documented'),
    microseconds('empty handler', 'empty'),
    { what: `${at}, A/A spread`, unit: '×', value: 1 + noise },
  ];
}

/** The cost of an `AsyncLocalStorage` in use, as J's is while an effect runs. On Node 20, each promise pays it. */
async function storageCost(pace: Pace): Promise<Figure> {
  const exchange = inProcess(createMcpHandler(empty));
  const storage = new AsyncLocalStorage<boolean>();
  const run = () => call(exchange, weather);
  const without = () => {
    storage.disable();
    return run();
  };
  const result = await race(
    withTwin([
      { name: 'without', run: without },
      { name: 'with', run: () => storage.run(true, run) },
    ]),
    pace,
  );
  storage.disable();
  return ratioFigure(
    'Empty handler, with an AsyncLocalStorage in use ÷ without',
    result.ratio('with', 'without'),
  );
}

export const wholeCall: Benchmark = {
  name: 'whole-call',
  title: 'A whole call, in process',
  async run({ pace }) {
    const longer = { ...pace, sliceMs: pace.sliceMs * 2, warmupMs: pace.warmupMs * 4 };
    const figures: Figure[] = [await storageCost(longer)];
    for (const atOnce of [1, MANY]) {
      figures.push(...(await compare({ plan: weather, title: 'one question', atOnce }, longer)));
      figures.push(...(await compare({ plan: workItem, title: 'two questions', atOnce }, longer)));
    }
    const notes = [
      'Requests are posted by hand to `createMcpHandler`; the same client on both sides. The documented style binds its ' +
        'state to method and client; without `bind` it is cheaper, and less protected.',
    ];
    return { figures, notes };
  },
};
