/** State that all loaded copies and module formats of these packages share. */

/**
 * Returns the process's value under `name`, and makes it the first time. An application that both imports and requires
 * this package has two copies of each module; without this, each would have its own key ring, ledger and patches.
 *
 * @param name ends with the version of the value's format, if it has one: two versions of the package may be loaded.
 * @example const known = processWide('known-users', () => new Set<string>());
 */
export function processWide<T>(name: string, make: () => T): T {
  const holder = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for(`mrtr.${name}`);
  holder[key] ??= make();
  return holder[key] as T;
}

/** Emits a Node warning, once per process. */
export function warnOnce(code: `MRTR_${string}`, message: string) {
  const warned = processWide('warned', () => new Set<string>());
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(message, { code });
}
