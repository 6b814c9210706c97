/** H on PostgreSQL, beside the shapes of `options.ts`. */
import { DbosStore } from '@mrtr/linear-dbos';
import { defineOption, type RunningOption } from '@mrtr/option';
import { option } from '@mrtr/option-h-postgres';
import { getWeather } from '@mrtr/option-h-postgres/weather';
import { resolveWorkItem } from '@mrtr/option-h-postgres/work-item';
import { linear } from '@mrtr/shapes/linear';
import { policy, running, SHAPES } from './options.ts';

/**
 * A shape by its id. `h-postgres` is the option's handlers on the benchmark's own store, which is open when this
 * resolves.
 */
export async function runningOn(id: string): Promise<RunningOption> {
  const shape = SHAPES.find((one) => one.id === id);
  if (shape) return running(shape);
  const store = await DbosStore.open({
    postgres: process.env.MRTR_BENCH_DATABASE ?? '',
    policy: policy(),
    version: 'bench',
    onerror: ({ message }) => void process.stderr.write(`${message}\n`),
  });
  const onStore = defineOption({
    claims: option.claims,
    handlers: ({ world }) => ({
      getWeather: linear(getWeather(world), { store }),
      resolveWorkItem: linear(resolveWorkItem(world), { store }),
      framesHeld: () => store.parked,
      close: () => store.close(),
    }),
  });
  return running(onStore);
}
