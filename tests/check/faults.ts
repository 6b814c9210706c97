/** Every fault of the bare server, with all of its findings. */
import type { Inputs, Verdict } from '@mrtr/check';
import { advice, fail } from './bare.test-support.ts';

export interface Fault {
  readonly id: string;
  readonly found: Readonly<Record<string, Verdict>>;
  readonly inputs?: Partial<Inputs>;
  readonly args?: readonly string[];
  readonly next?: readonly string[];
  /** The related checks to run, if others would show nothing or take too long. */
  readonly near?: readonly string[];
  /** The only transport that shows the fault. Default: stdio. */
  readonly transport?: 'http';
}

/** Checks for HTTP only: stdio has one principal, and no connection for each request. */
export const HTTP_ALONE = ['state.other-principal', 'retry.lost-response', 'era.stateless'];

type More = Omit<Fault, 'id' | 'found'> & { readonly also?: Fault['found'] };

const fault = (id: string, verdict: Verdict, { also = {}, ...rest }: More = {}): Fault => {
  const found = { [id]: verdict, ...also };
  const isHttp = HTTP_ALONE.some((one) => one in found);
  return { id, found, ...(isHttp && { transport: 'http' }), ...rest };
};

export const PROMPT = { kind: 'prompt', name: 'transfer', arguments: { to: 'bob', amount: 5 } } as const;

export const FAULTS: readonly Fault[] = [
  fault('wire.result-type', 'fail'),
  // Over stdio answers are matched by id, so a wrong one would answer nothing.
  fault('wire.shape', 'fail', { transport: 'http' }),
  fault('wire.schema', 'fail'),
  fault('wire.duplicate-keys', 'fail'),
  fault('wire.no-server-requests', 'fail'),
  fault('wire.unknown-members', 'warn'),
  // State has to be readable to be forged.
  fault('state.forged', 'fail', { also: advice('state.readable') }),
  fault('state.tampered', 'fail'),
  fault('state.malformed', 'fail'),
  fault('state.aliased', 'advice'),
  fault('state.other-arguments', 'warn'),
  fault('state.other-tool', 'warn'),
  fault('state.other-method', 'warn', { inputs: { otherOperation: PROMPT } }),
  fault('state.other-principal', 'warn'),
  fault('state.rolled-back', 'fail', { also: fail('retry.other-answers') }),
  fault('state.dropped', 'advice'),
  fault('state.expired', 'warn', { inputs: { ttlSeconds: 1 }, args: ['--ttl', '1'] }),
  fault('state.oracle', 'advice'),
  fault('state.readable', 'advice'),
  fault('state.size', 'advice'),
  // The server remembers nothing, so every repetition of an approval works.
  fault('retry.twice', 'fail', {
    also: fail(
      'retry.concurrent',
      'retry.lost-response',
      'retry.other-answers',
      'state.rolled-back',
      'instance.replay-elsewhere',
    ),
  }),
  fault('retry.concurrent', 'fail', { also: fail('retry.other-answers') }),
  // The server holds every last answer for a moment.
  fault('retry.lost-response', 'fail', { near: ['retry', 'instance', 'state.rolled-back', 'effect'] }),
  fault('retry.other-answers', 'fail'),
  fault('answer.unasked', 'advice', { also: advice('consent.unasked-effect') }),
  fault('answer.other-key', 'warn'),
  fault('answer.other-round', 'warn'),
  fault('answer.invalid', 'warn'),
  fault('answer.empty-accept', 'warn', { also: advice('consent.empty-form') }),
  fault('answer.refusal-with-content', 'warn'),
  fault('answer.missing', 'warn'),
  fault('answer.partial', 'warn'),
  fault('refusal.no-effect', 'fail'),
  fault('refusal.decline-ends', 'advice'),
  fault('refusal.cancel-ends', 'advice'),
  fault('refusal.rounds-bounded', 'advice', { also: advice('form.rounds') }),
  fault('form.portable', 'advice'),
  fault('form.impossible', 'fail'),
  fault('form.rounds', 'advice'),
  ...['unasked-effect', 'empty-form', 'default-yes', 'blind', 'spoofed', 'false-in-form', 'argument'].map(
    (name) => fault(`consent.${name}`, 'fail', { inputs: { needsConsent: true } }),
  ),
  fault('capability.mode', 'fail'),
  fault('capability.undeclared', 'fail'),
  // Over stdio a restarted process is another instance.
  fault('instance.second', 'advice', { transport: 'http' }),
  fault('instance.restart', 'advice', { transport: 'http' }),
  fault('instance.replay-elsewhere', 'fail'),
  fault('deploy.survives', 'advice', { next: [] }),
  fault('deploy.returns', 'advice', { next: [] }),
  // A call that breaks does not finish, in either direction.
  fault('deploy.says-why', 'warn', { next: [], also: advice('deploy.survives', 'deploy.returns') }),
  fault('deploy.effect-once', 'fail', { next: [] }),
  fault('deploy.replay', 'fail', { next: [] }),
  fault('deploy.reworded', 'advice', { next: ['--change', 'reworded'] }),
  fault('deploy.unfit', 'warn', { next: ['--change', 'narrowed'] }),
  fault('effect.before-answer', 'advice'),
  fault('effect.once', 'advice'),
  fault('effect.per-round', 'advice'),
  fault('era.same', 'advice'),
  fault('era.stateless', 'advice'),
  fault('abandon.flat', 'advice'),
];

/** The beginnings of remedies. None recommends what the server does already. */
export const REMEDIES: Readonly<Record<string, string>> = {
  'retry.twice': 'Make one id in the first round',
  'retry.concurrent': 'It remembers used approvals, and looks before it writes',
  'instance.replay-elsewhere': 'It remembers used approvals, and each instance its own',
  'state.rolled-back': 'It remembers used states, but not their call',
  'state.forged': 'It verifies a signature where there is one',
  'effect.before-answer': 'The effect already happens only once for each call',
  'effect.once': 'If one effect runs more than once after the last answer',
  'effect.per-round': 'Put effects after the last question',
};

/** Faults that depend on timing. Other tests would hide them, so these run alone. */
export const RACING: readonly string[] = ['retry.concurrent', 'retry.lost-response', 'abandon.flat'];
