/** The time to import a module, and until a command prints its first line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Benchmark, type Effort, type Figure, ratioFigure } from './benchmark.ts';
import { report } from './child/program.ts';
import { again, Race } from './race.ts';
import { noiseOf, quantile } from './statistics.ts';

const SUBPATHS = ['once', 'tool-builder', 'linear', 'resolve', 'journal', 'by-era'];
const SDK = '@modelcontextprotocol/server';
const TIMES: Readonly<Record<Effort['kind'], number>> = { quick: 1, full: 9 };

/** The repository's root: a folder above this file, also in the layout of a run. */
export function root(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) folder = dirname(folder);
  return folder;
}

const FIRST_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'get_weather',
    arguments: { location: 'Tokyo' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    },
  },
});

/** Milliseconds until a program of the command line prints its first byte. */
async function untilFirstByte(args: readonly string[], input?: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [join(root(), 'demos/cli/run.mjs'), ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (input) child.stdin.write(`${input}\n`);
  await once(child.stdout, 'data');
  const ms = performance.now() - started;
  child.kill();
  await once(child, 'exit');
  return ms;
}

export const startUp: Benchmark = {
  name: 'start-up',
  title: 'Start-up',
  async run({ kind }) {
    const modules = [SDK, again(SDK), ...SUBPATHS.map((path) => `@mrtr/shapes/${path}`)];
    const times = new Map(modules.map((module) => [module, [] as number[]]));
    const demo: number[] = [];
    const serve: number[] = [];
    for (let round = -1; round < TIMES[kind]; round++) {
      for (const module of round % 2 ? modules.toReversed() : modules) {
        const ms = await report<number>('import-time', [module.replace(again(''), '')]);
        // The first round only warms the disk's cache.
        if (round >= 0) times.get(module)?.push(ms);
      }
      if (round < 0 || round % 3 !== 0) continue;
      demo.push(await untilFirstByte(['basic']));
      serve.push(await untilFirstByte(['serve', 'option-g', '--stdio'], FIRST_CALL));
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
    return {
      figures: [
        ...figures,
        { what: "import the SDK's server", unit: 'ms', value: result.microseconds(SDK) },
        { what: 'pnpm demo basic, first line', unit: 'ms', value: quantile(demo, 0.5) },
        { what: 'pnpm serve option-g --stdio, first answer', unit: 'ms', value: quantile(serve, 0.5) },
      ],
      notes: [
        'The two commands are started with node and without pnpm, and run from TypeScript, so through tsx.',
      ],
    };
  },
};
