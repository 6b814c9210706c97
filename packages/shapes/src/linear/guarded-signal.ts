/**
 * Guards abort signals: in Node, a listener that throws or rejects would end the process with an uncaught exception.
 */
import { OperatorWarning } from '@mrtr/core/events';

const FAILED = 'A listener of ctx.signal failed. The call was ended all the same.';

type Listener = Exclude<Parameters<AbortSignal['addEventListener']>[1], null>;

/**
 * Reports the errors of listeners that are added to `signal` from now on. Changes `signal` itself: a platform function
 * such as `fetch` accepts no other object.
 */
export function guardListeners(signal: AbortSignal, report: (error: Error) => void) {
  const guarded = new WeakMap<Listener, Listener>();
  const guard = (listener: Listener) => (event: Event) => {
    const reject = (cause: unknown) => report(new OperatorWarning('listener_failed', FAILED, { cause }));
    try {
      const returned: unknown =
        typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event);
      Promise.resolve(returned).catch(reject);
    } catch (error) {
      reject(error);
    }
  };
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: Listener | null, options?: boolean | object) => {
    if (!listener) return;
    const known = guarded.get(listener) ?? guard(listener);
    guarded.set(listener, known);
    add(type, known, options);
  };
  signal.removeEventListener = (type: string, listener: Listener | null, options?: boolean | object) => {
    if (listener) remove(type, guarded.get(listener) ?? listener, options);
  };
}
