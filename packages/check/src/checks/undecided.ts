/** What ends a check without a verdict. */
import type { Talk } from '../talk/talk.ts';

/** A call with its record: one of the checker's own, or one that the old SDK's client made. */
export type Evident = Pick<Talk, 'evidence' | 'turns' | 'last'> & Partial<Pick<Talk, 'decisive'>>;

/** A control failed, so that nothing can be said. */
export class Undecided extends Error {
  override readonly name = 'Undecided';
  readonly talk: Evident | undefined;

  constructor(message: string, talk?: Evident) {
    super(message);
    this.talk = talk;
  }
}
