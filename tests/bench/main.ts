/** `pnpm bench`: runs benchmarks, one after the other, and reports. */
import { parseArgs } from 'node:util';
import { codec } from './codec.ts';
import { type Benchmark, type Chapter, cellsOf, describeRun, verdictOf, writeDocument } from './figures.ts';
import { durable, http } from './load.ts';
import { parkedFrames } from './parked-frames.ts';
import { FULL, QUICK } from './race.ts';
import { startUp } from './start-up.ts';
import { inFlight, wholeCall } from './whole-call.ts';

const BENCHMARKS: readonly Benchmark[] = [codec, wholeCall, inFlight, http, parkedFrames, startUp, durable];
const NAMES = BENCHMARKS.map(({ name }) => name);
const HELP = `pnpm bench measures, and writes docs/performance.md.
  --only NAME  one of ${NAMES.join(', ')}; may be given several times; writes nothing
  --check      exit with 1 when a goal is missed by more than the run's A/A spread
  --quick      a few seconds, to see that it runs; writes nothing
MRTR_BENCH_POSTGRES names a PostgreSQL to measure on: the connection string of a role that may create databases.
`;

const { only, check, quick, help } = readOptions();
if (help || only.some((name) => !NAMES.includes(name))) {
  process.stdout.write(HELP);
  process.exit(help ? 0 : 2);
}

const pace = quick ? QUICK : FULL;
const about = describeRun(pace);
const chapters: Chapter[] = [];
for (const { run, ...benchmark } of BENCHMARKS.filter(({ name }) => only.includes(name))) {
  console.log(`\n${benchmark.name}: ${benchmark.title}`);
  const figures = await run(pace);
  for (const figure of figures) console.log(`  ${cellsOf(figure).filter(Boolean).join('  ')}`);
  chapters.push({ ...benchmark, figures });
}
if (!quick && only === NAMES) writeDocument(about, chapters);
const missed = chapters.flatMap(({ figures }) => figures).filter((one) => verdictOf(one) === '**missed**');
console.log(missed.length === 0 ? '\nEvery goal is met.' : `\n${missed.length} goals are missed.`);
// Sockets that a benchmark left open must not keep the program alive.
process.exit(check && missed.length > 0 ? 1 : 0);

function readOptions() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: NAMES },
        check: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${HELP}`);
    process.exit(2);
  }
}
