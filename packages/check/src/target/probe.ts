/** Probes: an observable value that shows effects, read before and after a request. */
import { readOutside } from '@mrtr/harness/internal';
import { Undecided } from '../session/session.ts';
import type { Patience } from '../wire/channel.ts';
import { comparable, outcomeOf, textOf } from '../wire/outcome.ts';
import type { Instance, TestedInstances } from './instance.ts';
import { METHOD, type Operation, type ProbeSpec, paramsOf } from './target.ts';

export class ProbeFailed extends Undecided {}

/** Reads the value that shows effects. @throws ProbeFailed */
export type Probe = () => Promise<string>;

/** Makes a probe. An operation is called on every running instance, because each may count its own effects. `{port}` is that of the first. */
export function createProbe(spec: ProbeSpec, fleet: TestedInstances, patience: Patience): Probe {
  if (spec.kind !== 'operation') {
    const what = spec.kind === 'cmd' ? spec.command : spec.url;
    const { timeoutMs, over } = patience;
    return () => {
      const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), over]);
      return readOutside(spec.kind, fleet.first.fillPort(what), { signal }).catch(({ message }: Error) => {
        throw new ProbeFailed(message);
      });
    };
  }
  /** Whether an instance counts its own effects, as far as known. */
  const apart = new Map<Instance, boolean>();
  return async () => {
    const reading = await call(fleet.first, spec.operation);
    const readings = [reading];
    for (const instance of fleet.instances.slice(1)) {
      if (apart.get(instance) === false) continue;
      const one = await call(instance, spec.operation);
      // A new instance with the same reading as the first shares its store.
      if (!apart.has(instance)) apart.set(instance, one !== reading);
      if (apart.get(instance)) readings.push(one);
    }
    return readings.join(APART);
  };
}

async function call(instance: Instance, operation: Operation) {
  const request = { method: METHOD[operation.kind], params: paramsOf(operation) };
  const outcome = outcomeOf(await instance.channel().send(request));
  if (outcome.kind !== 'completed')
    throw new ProbeFailed(`the probe ${operation.kind} '${operation.name}' did not answer: ${outcome}`);
  return textOf(outcome.result) || comparable(outcome);
}

/** Separates the readings of instances that count their own effects. */
const APART = ' | ';

/** The only number in a reading; the sum, if instances count their own effects. Undefined if it has none, or several. */
export function numberIn(reading = '') {
  const numbers = reading.split(APART).map((one) => one.match(/-?\d+(?:\.\d+)?/g) ?? []);
  if (numbers.some((one) => one.length !== 1)) return undefined;
  return numbers.reduce((sum, [one]) => sum + Number(one), 0);
}
