/**
 * A turn of the event loop without its price: that is ten times as much, and whoever is parked or asked pays it once a
 * round.
 */

let waiting: (() => void)[] = [];

/**
 * Calls `done` when no microtask is left: those that are queued meanwhile have run as well, and those that an earlier
 * `done` has queued.
 */
export function afterMicrotasks(done: () => void): void {
  waiting.push(done);
  if (waiting.length === 1) soon(waiting);
}

// Ticks that were asked for in a microtask are run when none is left, but all of them in one go. Hence one at a time.
const soon = (queue: (() => void)[], at = 0): void => queueMicrotask(() => process.nextTick(next, queue, at));

function next(queue: (() => void)[], at: number): void {
  const done = queue[at];
  if (at + 1 < queue.length) soon(queue, at + 1);
  else waiting = [];
  done?.();
}
