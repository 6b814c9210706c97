/**
 * Calls `done` when no microtask is left: those that are queued meanwhile have run as well. Node runs the ticks that were
 * asked for in a microtask when there is none left, and all of them in one go: what one `done` queues runs after the
 * others, so that calls that are served at once stay side by side, and the code that they share stays in the caches.
 */
export const afterMicrotasks = (done: () => void): void => queueMicrotask(() => process.nextTick(done));
