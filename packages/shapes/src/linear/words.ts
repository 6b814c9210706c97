/** The messages that clients get about calls of shape H: the same words from every store. */

/** Why a call ended whose client cancelled it, or closed its connection. */
export const CLIENT_CANCELLED = 'The client cancelled the call.';

/** Why a call ended whose user did not answer. */
export const UNANSWERED = 'Nobody answered in time, and the call was ended.';

/** Why a store that is closed refuses a call. */
export const NO_NEW_CALLS = 'This server is shutting down and takes no new calls of this kind.';

const OPEN_CALLS =
  'unanswered calls open. Answer or cancel one of them, or try again later. Nothing of this call has run.';

/** Why a store that is full refuses a call. */
export const SERVER_FULL = `This server has too many ${OPEN_CALLS}`;

/** Why a store refuses a call of a principal who has too many. */
export const PRINCIPAL_FULL = `You have too many ${OPEN_CALLS}`;

const TOO_LARGE = 'keep together. Answer or cancel one of them, or send less. Nothing of this call has run.';

/** Why a store refuses a call whose arguments it has no memory for. */
export const SERVER_FULL_OF_BYTES = `The arguments of this call and of those that are open are too large to ${TOO_LARGE}`;

/** The same, where those of the principal are too large. */
export const PRINCIPAL_FULL_OF_BYTES = `The arguments of this call and of your open ones are too large to ${TOO_LARGE}`;
