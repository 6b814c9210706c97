/** Options of ours, served as `pnpm serve` does. */
import { fileURLToPath } from 'node:url';
import { type Listening, listening, type Target, type Transport } from './target.ts';

/** The options that are tried: one that keeps nothing between rounds, and one whose handler waits in memory. */
export const TRIED = ['E', 'H'] as const;

export type Option = (typeof TRIED)[number];

export type Legacy = 'shim' | 'degrade';

const RUN = fileURLToPath(new URL('../../demos/cli/run.mjs', import.meta.url));

const program = (option: Option, legacy: Legacy, ...more: readonly string[]) => ({
  command: process.execPath,
  args: [RUN, 'serve', `option-${option.toLowerCase()}`, '--legacy', legacy, ...more],
});

/** Serves options: over HTTP each once, over stdio as often as a client starts it. */
export class Options {
  readonly #listening = new Map<string, Promise<Listening>>();

  async target(option: Option, transport: Transport, legacy: Legacy = 'shim'): Promise<Target> {
    if (transport === 'stdio') return program(option, legacy);
    const key = `${option} ${legacy}`;
    const started =
      this.#listening.get(key) ?? listening((port) => program(option, legacy, '--http', String(port)));
    this.#listening.set(key, started);
    return (await started).target;
  }

  async close(): Promise<void> {
    for (const started of this.#listening.values()) await (await started).close();
  }
}
