/** Runs benchmarks, one after the other, and reports. */
import type { Settings } from './args.ts';
import { type Benchmark, verdictOf } from './benchmark.ts';
import { capacity } from './capacity.ts';
import { codec } from './codec.ts';
import { durable } from './durable.ts';
import { http } from './http.ts';
import { parkedFrames } from './parked-frames.ts';
import { type Chapter, writeDocument } from './report/document.ts';
import { machine } from './report/machine.ts';
import { shownLine } from './report/wording.ts';
import { startUp } from './start-up.ts';
import { wholeCall } from './whole-call.ts';

const BENCHMARKS: readonly Benchmark[] = [codec, wholeCall, http, parkedFrames, capacity, startUp, durable];

/** Runs the chosen benchmarks; resolves with the program's exit code. */
export async function runBenchmarks(settings: Settings): Promise<number> {
  const { effort, json, check, write, only } = settings;
  const say = (text: string) => void (json ? process.stderr : process.stdout).write(text);
  const unknown = only.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
  if (unknown.length > 0) {
    const names = BENCHMARKS.map(({ name }) => name).join(', ');
    process.stderr.write(`There is no benchmark ${unknown.join(', ')}. There are: ${names}.\n`);
    return 2;
  }
  const chapters: Chapter[] = [];
  for (const benchmark of BENCHMARKS) {
    if (only.length > 0 && !only.includes(benchmark.name)) continue;
    const started = performance.now();
    say(`\n${benchmark.name}: ${benchmark.title}\n`);
    const outcome = await benchmark.run(effort);
    for (const figure of outcome.figures) say(`  ${shownLine(figure)}\n`);
    for (const note of outcome.notes) say(`  ${note}\n`);
    const seconds = (performance.now() - started) / 1000;
    chapters.push({ name: benchmark.name, title: benchmark.title, seconds, ...outcome });
  }
  if (json)
    process.stdout.write(`${JSON.stringify({ ...machine(), effort: effort.kind, chapters }, null, 2)}\n`);
  if (write) say(`\nWritten: ${await writeDocument(chapters, effort)}\n`);
  const missed = chapters
    .flatMap(({ figures }) => figures)
    .filter((figure) => verdictOf(figure) === 'missed');
  say(`\n${missed.length === 0 ? 'Every goal is met.' : `${missed.length} goals are missed.`}\n`);
  return check && missed.length > 0 ? 1 : 0;
}
