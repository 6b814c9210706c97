/** The handlers that HTTP requests have entered. A hosting counts a call until its handler has settled. */

const ENTERED = Symbol.for('mrtr.entered');

type Entering = Request & { [ENTERED]?: Promise<unknown> };

/** Notes that `request` has entered a handler, which settles with `settled`. */
export function noteHandler(request: Request, settled: Promise<unknown>): void {
  // A member, because a WeakMap of many requests costs the garbage collector more.
  (request as Entering)[ENTERED] = settled;
}

/**
 * Resolves when the handler that `request` entered has settled; at once where it entered none that is protected. The
 * SDK says nothing when the handler of a cancelled call settles.
 *
 * @param request the one in the handler's `ctx.http.req`.
 */
export async function handlerSettled(request: Request): Promise<void> {
  await (request as Entering)[ENTERED]?.catch(() => {});
}
