/** The cost of single use with the process's own ledger, which every policy has by default. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { requestStatePolicy } from '@mrtr/core';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { report } from './child/program.ts';
import { again, type Contestant, race, withTwin } from './race.ts';
import { noiseOf } from './statistics.ts';
import { call, inProcess, weather } from './subject/call.ts';
import { KEY, SHAPES } from './subject/options.ts';
import { forgetfulWorld } from './subject/world.ts';

/** The output of the measuring process. */
export interface LedgerCost {
  readonly entries: number;
  readonly heapEach: number;
  readonly microsecondsEach: number;
  readonly microsecondsFull: number;
}

async function ofLedger(entries: number): Promise<readonly Figure[]> {
  const cost = await report<LedgerCost>('ledger', [`${entries}`], ['--expose-gc']);
  const what = `${entries.toLocaleString('en').replace(',', ' ')} tokens served`;
  return [
    { what: `${what}, heap each`, unit: 'B', value: cost.heapEach },
    { what: `${what}, claim and result of one`, unit: 'µs', value: cost.microsecondsEach },
    {
      what: `${what}, the same where the ledger is full and forgets`,
      unit: 'µs',
      value: cost.microsecondsFull,
    },
  ];
}

export const singleUse: Benchmark = {
  name: 'single-use',
  title: 'Single use, with the ledger of the process',
  async run({ kind, pace }) {
    const longer = { ...pace, sliceMs: pace.sliceMs * 2, warmupMs: pace.warmupMs * 4 };
    const figures: Figure[] = [];
    for (const option of SHAPES.filter(({ id }) => id === 'f' || id === 'g')) {
      const contestant = (name: string, off?: false): Contestant => {
        const state = requestStatePolicy({ keys: [KEY], singleUse: off });
        const { server } = option.create({ world: forgetfulWorld(), state });
        const exchange = inProcess(createMcpHandler(() => server()));
        return { name, run: () => call(exchange, weather) };
      };
      const result = await race(withTwin([contestant('off', false), contestant('default')]), longer);
      const noise = noiseOf(result.ratio(again('off'), 'off'));
      const what = `${option.id.toUpperCase()}, one question, single use by default ÷ switched off`;
      figures.push({ ...ratioFigure(what, result.ratio('default', 'off')), noise });
      figures.push({ what: `${what}, A/A spread`, unit: '×', value: 1 + noise });
    }
    figures.push(...(await ofLedger(kind === 'quick' ? 1000 : 100_000)));
    return {
      figures,
      notes: [
        'A call of one question claims one token. The ledger of the process holds 100 000 tokens, each with its sealed ' +
          'result of up to 16 KiB; all results together have 64 MiB. The result here is one line of text.',
      ],
    };
  },
};
