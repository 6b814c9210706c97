/** Probes: an observable value that shows effects, read before and after a request. */
import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import type { Patience } from '../wire/channel.ts';
import { textIn } from '../wire/http.ts';
import { comparable, describeOutcome, outcomeOf, textOf } from '../wire/outcome.ts';
import type { Fleet, Instance } from './instance.ts';
import { METHOD, type ProbeSpec, paramsOf } from './target.ts';

export class ProbeFailed extends Error {
  override readonly name = 'ProbeFailed';
}

/** Reads a probe from every running instance, because each may count its own effects. */
export class Probe {
  readonly #spec: ProbeSpec;
  readonly #fleet: Fleet;
  readonly #patience: Patience;
  /** Whether an instance counts its own effects, as far as known. */
  readonly #apart = new Map<Instance, boolean>();

  constructor(spec: ProbeSpec, fleet: Fleet, patience: Patience) {
    this.#spec = spec;
    this.#fleet = fleet;
    this.#patience = patience;
  }

  async read(): Promise<string> {
    if (this.#spec.kind !== 'operation') return this.#once();
    const [first, ...others] = this.#fleet.instances;
    const reading = await this.#call(first as Instance);
    const readings = [reading];
    for (const instance of others) {
      if (this.#apart.get(instance) === false) continue;
      const one = await this.#call(instance);
      // A new instance with the same reading as the first shares its store.
      if (!this.#apart.has(instance)) this.#apart.set(instance, one !== reading);
      if (this.#apart.get(instance)) readings.push(one);
    }
    return readings.join(APART);
  }

  async #once(): Promise<string> {
    const { timeoutMs, over } = this.#patience;
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), over]);
    try {
      if (this.#spec.kind === 'url') {
        const response = await fetch(this.#spec.url, { signal, redirect: 'manual' });
        const { status } = response;
        // Follow no redirect: it may lead to a service that only this machine can reach.
        if (status >= 300 && status < 400)
          throw new Error(`HTTP ${status}, a redirect, which is not followed`);
        if (!response.ok) throw new Error(`HTTP ${status}`);
        return (await textIn(response)).trim();
      }
      const { command } = this.#spec as { command: string };
      const { stdout } = await promisify(exec)(command, { signal, killSignal: 'SIGKILL' });
      return stdout.trim();
    } catch (error) {
      throw new ProbeFailed(`the probe could not be read: ${(error as Error).message}`);
    }
  }

  async #call(instance: Instance): Promise<string> {
    const { operation } = this.#spec as Extract<ProbeSpec, { kind: 'operation' }>;
    const request = { method: METHOD[operation.kind], params: paramsOf(operation) };
    const outcome = outcomeOf(await instance.channel().send(request));
    if (outcome.kind !== 'completed')
      throw new ProbeFailed(
        `the probe ${operation.kind} '${operation.name}' did not answer: ${describeOutcome(outcome)}`,
      );
    return textOf(outcome.result) || comparable(outcome);
  }
}

/** Separates the readings of instances that count their own effects. */
const APART = ' | ';

/** The only number in a reading; the sum, if instances count their own effects. Undefined if it has none, or several. */
export function numberIn(reading: string): number | undefined {
  const numbers = reading.split(APART).map((one) => one.match(/-?\d+(?:\.\d+)?/g) ?? []);
  if (numbers.some((one) => one.length !== 1)) return undefined;
  return numbers.reduce((sum, [one]) => sum + Number(one), 0);
}
