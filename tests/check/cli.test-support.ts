/** Runs `mrtr-check`: in a process of its own, as people start it, or in this one, which is quicker. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { main } from '@mrtr/check';
import { type BareOptions, bareCommand, inWorld } from './bare.test-support.ts';

export const PROGRAM = fileURLToPath(new URL('../../packages/check/src/main.ts', import.meta.url));

export const TRANSFER = ['--tool', 'transfer', '--arguments', '{"to":"bob","amount":5}', '--allow-effects'];
export const ANSWERS = '--answer account="checking" --answer sure=true --answer memo="lunch"'.split(' ');
export const OPERATION = [...TRANSFER, ...ANSWERS, '--probe', 'tool:count'];

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function inProcess(...args: readonly string[]): Promise<Ended> {
  try {
    const words = ['--import', 'tsx', PROGRAM, ...args];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

export async function mrtrCheck(...args: readonly string[]): Promise<Ended> {
  const written = { out: '', err: '' };
  const sink = (name: 'out' | 'err') =>
    ({ write: (text: string) => (written[name] += text) }) as unknown as NodeJS.WriteStream;
  const code = await main(args, { out: sink('out'), err: sink('err') });
  return { code, ...written };
}

export const bareWith = (words: readonly string[], options: BareOptions = {}): Promise<Ended> =>
  inWorld((world) => mrtrCheck(...words, '--', ...bareCommand(world, options)));

export const onBare = (fault: string, ...words: readonly string[]): Promise<Ended> =>
  bareWith([...OPERATION, ...words], { fault });
