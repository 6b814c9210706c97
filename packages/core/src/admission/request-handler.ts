/** Tells a hosting when the handler of a request ends, or counts as abandoned. The SDK does not report either. */
import { CALL } from '../wire/call.ts';

interface RequestHandler {
  settled?: Promise<unknown>;
  abandoned?: () => void;
}

/** The handler of `request`, which is the handler's `ctx.http.req`. */
export function handlerOf(request: Request): RequestHandler {
  // A property, because a WeakMap of many requests slows the garbage collector.
  const handled = request as Request & { [CALL]?: RequestHandler };
  handled[CALL] ??= {};
  return handled[CALL];
}

/** Resolves when the handler that serves `request` has settled, or at once if no protected handler serves it. */
export async function awaitHandler(request: Request) {
  await handlerOf(request).settled?.catch(() => {});
}

/** Calls `listener` when the handler of `request` no longer counts among the running calls of its policy: it was cancelled. */
export function onAbandoned(request: Request, listener: () => void) {
  handlerOf(request).abandoned = listener;
}
