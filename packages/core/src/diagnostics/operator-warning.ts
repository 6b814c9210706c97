/** Warnings for operators, exported by `@mrtr/core/events`. Clients never see them. */
import { MrtrError } from '../errors.ts';

/** The subject of an {@link OperatorWarning}. */
export type WarningReason =
  | 'anonymous_rejected'
  | 'answer_rejected'
  | 'answers_unfit'
  | 'clock_differs'
  | 'handlers_abandoned'
  | 'host_rejected'
  | 'keys_not_read'
  | 'ledger_timed_out'
  | 'listener_failed'
  | 'not_ready'
  | 'page_rejected'
  | 'stream_closed';

/** A warning that no client sees. Never thrown: `onerror` gets it. */
export class OperatorWarning extends MrtrError {
  static override readonly code = 'operator_warning';
  readonly reason: WarningReason;
  constructor(reason: WarningReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * A handler keeps asking a question whose answers do not count. Never thrown: `onerror` gets it after the second
 * ignored answer in a row.
 */
export class AnswerIgnored extends MrtrError {
  static override readonly code = 'answer_ignored';
  /** The question's key. */
  readonly key: string;
  constructor(key: string, why: string) {
    super(`The handler asks '${key}' again, and ignored two answers to it: ${why}`);
    this.key = key;
  }
}
