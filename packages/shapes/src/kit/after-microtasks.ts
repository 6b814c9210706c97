/**
 * Calls `done` when no microtask is left, also none that was queued meanwhile. Node runs the ticks that microtasks ask
 * for together, after the last microtask. Work that one `done` queues runs after the other `done`s. So calls that are
 * served at the same time stay side by side, and the code that they share stays in the caches.
 */
export const afterMicrotasks = (done: () => void): void => queueMicrotask(() => process.nextTick(done));
