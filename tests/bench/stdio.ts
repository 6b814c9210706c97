/** Goal 6, stdio: a call over a pipe. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { start } from './child/program.ts';
import { again, type Contestant, race } from './race.ts';
import { noiseOf } from './statistics.ts';
import { call, type Exchange, type Reply, weather } from './subject/call.ts';
import { SHAPES } from './subject/options.ts';

function exchangeWith({ stdin, stdout }: ChildProcess): Exchange {
  if (!stdin || !stdout) throw new Error('A stdio server has pipes.');
  const waiting = new Map<unknown, (reply: Reply) => void>();
  createInterface({ input: stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Reply & { readonly id?: unknown };
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  return (request) =>
    new Promise((resolve) => {
      waiting.set((request as { readonly id: unknown }).id, resolve);
      stdin.write(`${JSON.stringify(request)}\n`);
    });
}

export const stdio: Benchmark = {
  name: 'stdio',
  title: 'stdio, one call at a time',
  async run({ pace }) {
    // The A/A pair are two processes, like those of the shapes: two processes of one program differ more than one
    // process does over time.
    const names = ['documented', again('documented'), ...SHAPES.map(({ id }) => id)];
    const children = new Map(
      names.map((name) => [name, start('stdio-server', [name.replace(again(''), '')])]),
    );
    try {
      const contestants = [...children].map(([name, child]): Contestant => {
        const exchange = exchangeWith(child);
        return { name, run: () => call(exchange, weather) };
      });
      // Start all before warming one up: a program that V8 compiles while the cores are busy stays slow.
      for (const { run } of contestants) await run();
      // Longer slices than within one process, because another process has used the caches.
      const longer = { ...pace, sliceMs: pace.sliceMs * 8, warmupMs: pace.warmupMs * 5 };
      const result = await race(contestants, longer);
      const noise = noiseOf(result.ratio(again('documented'), 'documented'));
      const figures = SHAPES.flatMap(({ id }): readonly Figure[] => [
        ratioFigure(
          `${id.toUpperCase()} ÷ documented style`,
          result.ratio(id, 'documented'),
          { most: 0.75 },
          noise,
        ),
        { what: `${id.toUpperCase()}, a call`, unit: 'µs', value: result.microseconds(id) },
      ]);
      const bare: Figure = {
        what: 'Documented style, a call',
        unit: 'µs',
        value: result.microseconds('documented'),
      };
      return { figures: [...figures, bare], notes: [] };
    } finally {
      for (const child of children.values()) child.kill();
    }
  },
};
