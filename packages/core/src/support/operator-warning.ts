/** The error class for operators. It is no part of the package's main entry. */
import { MrtrError } from './errors.ts';

/** What an {@link OperatorWarning} is about. */
export type WarningReason =
  | 'answer_refused'
  | 'clock_differs'
  | 'handlers_abandoned'
  | 'host_refused'
  | 'keys_not_read'
  | 'ledger_timed_out'
  | 'line_too_long'
  | 'listener_failed'
  | 'not_ready'
  | 'page_refused'
  | 'stream_closed';

/** Something that an operator should know and no client sees. Never thrown: `onerror` gets it. */
export class OperatorWarning extends MrtrError {
  static override readonly code = 'operator_warning';
  readonly reason: WarningReason;
  constructor(reason: WarningReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
