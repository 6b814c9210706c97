/** Messages for clients about calls of shape H, the same for every store. */
import { MrtrError, StoreFull } from '@mrtr/core';

/** A parked continuation is gone: expired, resumed already, aborted, or held by another process. */
export class ContinuationLost extends MrtrError {
  static override readonly code = 'continuation_lost';
}

/** The client cancelled the call, or closed its connection. */
export const CLIENT_CANCELLED = 'The client cancelled the call.';

/** The call expired before its user answered. */
export const UNANSWERED = 'Nobody answered in time, and the call was ended.';

/** A closed store rejects a call. */
export const NO_NEW_CALLS = 'This server is shutting down and takes no new calls of this kind.';

/** The error of a full store, in total or for a principal who has too many calls. */
export const callsFull = (full: 'own' | 'all'): StoreFull =>
  new StoreFull(
    `${full === 'all' ? 'This server has' : 'You have'} too many unanswered calls open. Answer or cancel one of them, or ` +
      'try again later. Nothing of this call has run.',
  );

/** The error of a store that has no room for the arguments of a call, in total or for its principal. */
export const argumentsFull = (full: 'own' | 'all'): StoreFull =>
  new StoreFull(
    `The arguments of this call and of ${full === 'all' ? 'those that are open' : 'your open ones'} are too large to keep ` +
      'together. Answer or cancel one of them, or send less. Nothing of this call has run.',
  );
