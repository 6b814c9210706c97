/** Runs `mrtr-check` in this process, which is faster. hostile.proof.ts starts the program. */
import { Writer } from '@mrtr/harness/internal';
import { main, type Output } from '../../packages/check/src/cli/cli.ts';
import { type BareOptions, bareCommand, inWorld } from './bare.test-support.ts';

export const TRANSFER = ['--tool', 'transfer', '--arguments', '{"to":"bob","amount":5}', '--allow-effects'];
export const ANSWERS = '--answer account="checking" --answer sure=true --answer memo="lunch"'.split(' ');
export const OPERATION = [...TRANSFER, ...ANSWERS, '--probe', 'tool:count'];

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export const mrtrCheck = (...args: readonly string[]): Promise<Ended> => mrtrCheckOn({}, args);

/** Runs it, optionally on a terminal and with typed `input`. */
export async function mrtrCheckOn(
  { isTTY = false, input }: { readonly isTTY?: boolean; readonly input?: Output['in'] },
  args: readonly string[],
): Promise<Ended> {
  const written = { out: '', err: '' };
  const sink = (name: 'out' | 'err', more = {}) =>
    new Writer({ write: (text: string) => (written[name] += text), ...more });
  const output = { out: sink('out'), err: sink('err', { isTTY }), ...(input && { in: input }) };
  return { code: await main(args, output), ...written };
}

export const bareWith = (words: readonly string[], options: BareOptions = {}): Promise<Ended> =>
  inWorld((world) => mrtrCheck(...words, '--', ...bareCommand(world, options)));

export const onBare = (fault: string, ...words: readonly string[]): Promise<Ended> =>
  bareWith([...OPERATION, ...words], { fault });
