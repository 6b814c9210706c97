/** What ends a check without a verdict. */
import type { Session } from '../session/session.ts';

/** A call with its record: one of the checker's own, or one that the old SDK's client made. */
export type Evident = Pick<Session, 'evidence' | 'turns' | 'last'> & Partial<Pick<Session, 'decisive'>>;

/** A control failed, so that nothing can be said. */
export class Undecided extends Error {
  override readonly name = 'Undecided';
  readonly session: Evident | undefined;

  constructor(message: string, session?: Evident) {
    super(message);
    this.session = session;
  }
}
