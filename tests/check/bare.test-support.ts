/** Runs the checker against the bare server, right or with one fault. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Inputs, type Report, run, type Verdict } from '@mrtr/check';

export const BARE = fileURLToPath(new URL('./servers/bare.mjs', import.meta.url));

export interface BareOptions {
  readonly fault?: string;
  readonly transport?: 'http' | 'stdio';
  readonly only?: readonly string[];
  readonly inputs?: Partial<Inputs>;
  readonly args?: readonly string[];
  readonly next?: readonly string[] | undefined;
}

const TRANSFER = { kind: 'tool', name: 'transfer', arguments: { to: 'bob', amount: 5 } } as const;

export const probeOf = (name: string) =>
  ({ kind: 'operation', operation: { kind: 'tool', name, arguments: {} } }) as const;

/** All inputs of a run, so that every check runs except those that wait. */
export const EVERYTHING: Omit<Inputs, 'address'> = {
  operation: TRANSFER,
  otherOperation: { ...TRANSFER, name: 'refund' },
  answers: { account: 'checking', sure: true, memo: 'lunch' },
  generateAnswers: false,
  probe: probeOf('count'),
  oneTime: true,
  needsConsent: false,
  allowEffects: true,
  seed: 1,
  timeoutSeconds: 10,
  mostSeconds: 600,
};

export async function inWorld<T>(use: (world: string) => Promise<T>): Promise<T> {
  const world = await mkdtemp(join(tmpdir(), 'mrtr-check-'));
  try {
    return await use(world);
  } finally {
    await rm(world, { recursive: true, force: true });
  }
}

export const bareCommand = (dir: string, { fault = '', transport = 'http', args = [] }: BareOptions = {}) => [
  ...[process.execPath, BARE, '--world', dir, '--fault', fault, ...args],
  ...(transport === 'http' ? ['--http', '{port}'] : []),
];

export const nextCommand = (world: string, { args = [], next = [], ...options }: BareOptions = {}): string =>
  bareCommand(world, { ...options, args: [...args, '--version', '2', ...next] })
    .map((word) => `'${word}'`)
    .join(' ');

export const bareInputs = (world: string, options: BareOptions): Inputs => ({
  ...EVERYTHING,
  address: {
    command: bareCommand(world, options),
    ...(options.next && { next: nextCommand(world, options) }),
    headers: { authorization: 'Bearer alice' },
    otherHeaders: { authorization: 'Bearer mallory' },
  },
  only: options.only,
  ...options.inputs,
});

export const checkBare = (options: BareOptions = {}): Promise<Report> =>
  inWorld((world) => run(bareInputs(world, options)));

export type Found = Readonly<Record<string, Verdict>>;

const all =
  (verdict: Verdict) =>
  (...ids: readonly string[]): Found =>
    Object.fromEntries(ids.map((id) => [id, verdict]));
/** Expected findings with one verdict. */
export const [fail, warn, advice] = [all('fail'), all('warn'), all('advice')];

export const verdicts = ({ checks }: Pick<Report, 'checks'>, ...kinds: readonly Verdict[]): Found => {
  const wanted = checks.filter(({ verdict }) => kinds.includes(verdict));
  return Object.fromEntries(wanted.map(({ id, verdict }) => [id, verdict]));
};

export const findings = (one: Pick<Report, 'checks'>): Found =>
  verdicts(one, 'fail', 'warn', 'advice', 'could-not-run');

/** The reasons of undecided checks, for a test's message: a busy machine may leave checks undecided. */
export const whyUndecided = ({ checks }: Pick<Report, 'checks'>): string =>
  checks.flatMap(({ verdict, actual }) => (verdict === 'could-not-run' ? [actual] : [])).join('\n');
