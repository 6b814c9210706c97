/** The time to import a module. */
import { type Benchmark, type Effort, type Figure, ratioFigure } from './benchmark.ts';
import { report } from './child/program.ts';
import { again, Race } from './race.ts';
import { noiseOf } from './statistics.ts';

const SUBPATHS = ['once', 'tool-builder', 'linear', 'resolve', 'journal', 'by-era'];
const SDK = '@modelcontextprotocol/server';
const TIMES: Readonly<Record<Effort['kind'], number>> = { quick: 1, full: 9 };

export const startUp: Benchmark = {
  name: 'start-up',
  title: 'Start-up',
  async run({ kind }) {
    const modules = [SDK, again(SDK), ...SUBPATHS.map((path) => `@mrtr/shapes/${path}`)];
    const times = new Map(modules.map((module) => [module, [] as number[]]));
    for (let round = -1; round < TIMES[kind]; round++) {
      for (const module of round % 2 ? modules.toReversed() : modules) {
        const ms = await report<number>('import-time', [module.replace(again(''), '')]);
        // The first round only warms the disk's cache.
        if (round >= 0) times.get(module)?.push(ms);
      }
    }
    const result = new Race(times);
    const noise = noiseOf(result.ratio(again(SDK), SDK));
    const figures: Figure[] = SUBPATHS.map((path) =>
      ratioFigure(
        `import @mrtr/shapes/${path} ÷ import the SDK's server`,
        result.ratio(`@mrtr/shapes/${path}`, SDK),
        { most: 1.05 },
        noise,
      ),
    );
    const bare: Figure = { what: "import the SDK's server", unit: 'ms', value: result.microseconds(SDK) };
    return { figures: [...figures, bare] };
  },
};
