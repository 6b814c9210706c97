/** The error that ends a check without a verdict. */
import type { Session } from '../session/session.ts';

/** A call with its record, made by the checker or by the old SDK's client. */
export type Evident = Pick<Session, 'evidence' | 'turns' | 'last'> & Partial<Pick<Session, 'decisive'>>;

/** A control failed, so the check has no verdict. */
export class Undecided extends Error {
  override readonly name = 'Undecided';
  readonly session: Evident | undefined;

  constructor(message: string, session?: Evident) {
    super(message);
    this.session = session;
  }
}
