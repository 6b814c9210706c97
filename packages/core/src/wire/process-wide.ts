/** State of the process: one, in however many copies and module formats these packages are loaded. */

/**
 * The value of this process under `name`, made the first time. An application that imports this package and requires it
 * has two copies of each module; without this, each had a ring, a ledger and patches of its own.
 *
 * @param name holds the format of the value: rename it when the format changes, since copies may be of two versions.
 * @example const known = processWide('known-users', () => new Set<string>());
 */
export function processWide<T>(name: string, make: () => T): T {
  const holder = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for(`mrtr.${name}`);
  holder[key] ??= make();
  return holder[key] as T;
}

/** The same listener, which never throws: what it throws becomes a warning of Node. */
export const guardListener =
  (listener: (error: Error) => void) =>
  (error: Error): void => {
    try {
      listener(error);
    } catch (thrown) {
      process.emitWarning(`onerror threw ${String(thrown)}. The error was: ${error.message}`, {
        code: 'MRTR_ONERROR',
      });
    }
  };

/** Emits a warning of Node, once in a process. */
export function warnOnce(code: `MRTR_${string}`, message: string): void {
  const warned = processWide('warned', () => new Set<string>());
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(message, { code });
}
