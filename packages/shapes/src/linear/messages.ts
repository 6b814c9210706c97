/** Messages for clients about calls of shape H, the same for every store. */
import { MrtrError } from '@mrtr/core';

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

const OPEN_CALLS =
  'unanswered calls open. Answer or cancel one of them, or try again later. Nothing of this call has run.';

/** A full store rejects a call. */
export const SERVER_FULL = `This server has too many ${OPEN_CALLS}`;

/** A store rejects the call of a principal who has too many. */
export const PRINCIPAL_FULL = `You have too many ${OPEN_CALLS}`;

const TOO_LARGE = 'keep together. Answer or cancel one of them, or send less. Nothing of this call has run.';

/** A store has no room for the arguments of a call. */
export const SERVER_FULL_OF_BYTES = `The arguments of this call and of those that are open are too large to ${TOO_LARGE}`;

/** The same, if the arguments of one principal's calls are too large. */
export const PRINCIPAL_FULL_OF_BYTES = `The arguments of this call and of your open ones are too large to ${TOO_LARGE}`;
