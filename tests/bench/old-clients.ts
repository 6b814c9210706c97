/** Goal 7: clients at 2025-11-25. */
import { type Benchmark, type Effort, type Figure, ratioFigure } from './benchmark.ts';
import { report } from './child/program.ts';
import { again, type Contestant, race, withTwin } from './race.ts';
import { noiseOf } from './statistics.ts';
import { documented } from './subject/documented.ts';
import { oldCaller } from './subject/old-client.ts';
import { LIVE, running, SHAPES } from './subject/options.ts';
import { forgetfulWorld } from './subject/world.ts';

const CALLS: Readonly<Record<Effort['kind'], number>> = { quick: 100, full: 10_000, thorough: 100_000 };

export const oldClients: Benchmark = {
  name: 'old-clients',
  title: 'The v1 client, one question',
  async run({ kind, pace }) {
    const contestants: Contestant[] = [
      { name: 'documented', run: await oldCaller(documented(forgetfulWorld())()) },
    ];
    for (const option of [...SHAPES, ...LIVE]) {
      contestants.push({ name: option.id, run: await oldCaller(running(option).server()) });
    }
    const result = await race(withTwin(contestants as [Contestant, ...Contestant[]]), pace);
    const noise = noiseOf(result.ratio(again('documented'), 'documented'));
    const ratio = (id: string, how: string, most?: number) => {
      const what = `${id.toUpperCase()}, ${how} ÷ documented style through the shim`;
      return ratioFigure(
        what,
        result.ratio(id, 'documented'),
        most === undefined ? undefined : { most },
        noise,
      );
    };
    const figures: Figure[] = [
      ...SHAPES.map(({ id }) => ratio(id, "through the SDK's shim", 0.5)),
      ...LIVE.map(({ id }) => ratio(id, 'asking live')),
      { what: 'Documented style, a call', unit: 'µs', value: result.microseconds('documented') },
    ];
    const calls = CALLS[kind];
    const goal = kind === 'thorough' ? { most: 8 } : undefined;
    for (const { id } of LIVE) {
      const value = await report<number>('live-asks', [id, `${calls}`], ['--expose-gc']);
      figures.push({
        what: `${id.toUpperCase()}, heap left by each of ${calls} live asks`,
        unit: 'B',
        value,
        goal,
      });
    }
    return { figures, notes: ['“Flat memory” is taken as at most 8 B a call, as for HTTP.'] };
  },
};
