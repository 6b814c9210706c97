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
