/** When the calls of sessions are over: they outlive the responses, which end when their clients hang up. */

const calls = new WeakMap<Request, Promise<void>>();

/** Notes that `request` is a session's call, which is over with `over`. */
export const noteCall = (request: Request, over: Promise<void>): void => void calls.set(request, over);

/**
 * Resolves when the call that `request` made is answered, or will not be; at once where it made none in a session.
 * Between its rounds, no handler runs.
 */
export const callOver = async (request: Request): Promise<void> => calls.get(request);
