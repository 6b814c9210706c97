/**
 * Calls `done` when no microtask is left, including microtasks queued meanwhile. Node runs the ticks that microtasks
 * request together, after the last microtask. Work that one `done` queues runs after the other `done`s, so concurrent
 * calls advance together and share warm caches.
 */
export const afterMicrotasks = (done: () => void) => queueMicrotask(() => process.nextTick(done));
