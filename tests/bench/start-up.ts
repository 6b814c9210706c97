/** The time to import a module: each shape as one file with all our code, and the SDK's server. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Benchmark, programAt, ratioFigure } from './figures.ts';
import { type Contestant, race } from './race.ts';

/** The subpaths of `@mrtr/shapes`. */
export const SHAPES = ['once', 'tool-builder', 'linear', 'resolve', 'journal'];
const SDK = "import the SDK's server";
const TIME =
  'const started = performance.now(); await import(process.argv[1]); console.log(performance.now() - started)';

const importing = (name: string, module: string): Contestant => ({
  name,
  async run() {
    const args = ['--input-type=module', '--eval', TIME, module];
    return { overriddenDuration: Number((await promisify(execFile)(process.execPath, args)).stdout) };
  },
});

export const startUp: Benchmark = {
  name: 'start-up',
  title: 'Start-up',
  async run(pace) {
    const ours = SHAPES.map((shape) => importing(shape, programAt(`shape-${shape}`)));
    const result = await race(
      [importing(SDK, import.meta.resolve('@modelcontextprotocol/server')), ...ours],
      pace,
    );
    return [
      ...SHAPES.map((shape) => ratioFigure(`/${shape}, import ÷ ${SDK}`, result, shape, SDK, 1.05)),
      { what: SDK, unit: 'ms', value: result.median(SDK) / 1000 },
    ];
  },
};
