/** State of the process: one, in however many copies and module formats these packages are loaded. */

import { onOneLine, withoutCall } from './log-line.ts';

/**
 * The value of this process under `name`, made the first time. An application that imports this package and requires it
 * has two copies of each module; without this, each had a key ring, a ledger and patches of its own.
 *
 * @param name ends with the number of the value's format, where it has one: copies may be of two versions.
 * @example const known = processWide('known-users', () => new Set<string>());
 */
export function processWide<T>(name: string, make: () => T): T {
  const holder = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for(`mrtr.${name}`);
  holder[key] ??= make();
  return holder[key] as T;
}

type ErrorListener = (error: Error) => void;

/**
 * Tells each listener that was given about an error that no client sees, and never throws. Where none was given, the
 * first error of each kind is a warning of Node, so that an operator who set no `onerror` hears of it once.
 */
export function tellOperator(thrown: unknown, ...onerror: readonly (ErrorListener | undefined)[]): void {
  const error = onOneLine(thrown instanceof Error ? thrown : new Error(String(thrown)));
  const listeners = onerror.filter((listener) => listener !== undefined);
  for (const listener of listeners) {
    try {
      listener(error);
    } catch (failure) {
      process.emitWarning(`onerror threw ${String(failure)}. The error was: ${error.message}`, {
        code: 'MRTR_ONERROR',
      });
    }
  }
  if (listeners.length > 0) return;
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

/** Messages may hold what a client sent. */
const MAX_KINDS = 100;

function errorKind(error: Error): string {
  const { code, reason = code } = error as { readonly code?: unknown; readonly reason?: unknown };
  return typeof reason === 'string' ? reason : withoutCall(error.message).replaceAll(/\d+|'[^']*'/g, '');
}

/** Emits a warning of Node, once in a process. */
export function warnOnce(code: `MRTR_${string}`, message: string): void {
  const warned = processWide('warned', () => new Set<string>());
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(message, { code });
}
