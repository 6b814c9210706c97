/** State that all loaded copies and module formats of these packages share. */

import { onOneLine, withoutCall } from './diagnostics/log-line.ts';

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

type ErrorListener = (error: Error) => void;

const LISTENER = Symbol.for('mrtr.listener');

/**
 * Notes the listener for the errors of `owner`: of a policy, of a server that it protects, of a browser's request. Or that
 * a function passes its errors on to that listener.
 */
export const noteListener = <T extends object>(owner: T, onerror: ErrorListener | undefined): T =>
  Object.defineProperty(owner, LISTENER, { value: onerror, configurable: true });

/** The listener that was noted for `owner`. */
export const listenerOf = (owner: object): ErrorListener | undefined =>
  (owner as { readonly [LISTENER]?: ErrorListener })[LISTENER];

/**
 * Passes an error that no client sees to each listener, once. Never throws. Without a listener, the first error of each
 * kind becomes a Node warning, so that an operator without `onerror` sees it once.
 */
export function tellOperator(thrown: unknown, ...onerror: readonly (ErrorListener | undefined)[]): void {
  const error = onOneLine(thrown instanceof Error ? thrown : new Error(String(thrown)));
  const listeners = new Set(onerror.flatMap((one) => (one ? (listenerOf(one) ?? one) : [])));
  for (const listener of listeners) {
    try {
      listener(error);
    } catch (failure) {
      process.emitWarning(`onerror threw ${String(failure)}. The error was: ${error.message}`, {
        code: 'MRTR_ONERROR',
      });
    }
  }
  if (listeners.size > 0) return;
  const kinds = processWide('kinds-of-error', () => new Set<string>());
  const kind = errorKind(error);
  if (kinds.has(kind) || kinds.size >= MAX_KINDS) return;
  kinds.add(kind);
  process.emitWarning(
    `${error.message} (Only the first of its kind is shown. Give an \`onerror\` to get all.)`,
    {
      code: 'MRTR_ERROR',
    },
  );
}

/** A limit, because messages may contain a client's input. */
const MAX_KINDS = 100;

function errorKind(error: Error): string {
  const { code, reason = code } = error as { readonly code?: unknown; readonly reason?: unknown };
  return typeof reason === 'string' ? reason : withoutCall(error.message).replaceAll(/\d+|'[^']*'/g, '');
}

/** Emits a Node warning, once per process. */
export function warnOnce(code: `MRTR_${string}`, message: string): void {
  const warned = processWide('warned', () => new Set<string>());
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(message, { code });
}
