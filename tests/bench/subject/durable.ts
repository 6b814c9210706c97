/** H on PostgreSQL, beside the shapes of `options.ts`. */

import { DbosStore } from '@mrtr/linear-dbos';
import { option as h, linearOption } from '@mrtr/option-h';
import type { RunningOption } from '@mrtr/tools';
import { database } from './database.ts';
import { policy, running, SHAPES } from './options.ts';

/** A shape by its id; `h-postgres` is the tools of H on the database, swept each second where `swept`. */
export async function runningOn(id: string, swept = false): Promise<RunningOption> {
  const option = SHAPES.find((shape) => shape.id === id);
  if (option) return running(option);
  const onerror = (error: Error) => void process.stderr.write(`${error.message}\n`);
  const sweeping = swept ? { sweepSeconds: 1 } : {};
  const store = await DbosStore.open({
    postgres: database(),
    policy: policy(),
    version: 'bench',
    onerror,
    ...sweeping,
  });
  return running(
    linearOption(() => store, { id, title: 'linear continuation on PostgreSQL', claims: h.claims }),
  );
}
