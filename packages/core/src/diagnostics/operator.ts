/** Passes the errors that no client sees to the operator. */
import { processWide } from '../process-wide.ts';
import { asError, onOneLine, withoutCall } from './log-line.ts';

type ErrorListener = (error: Error) => void;

/**
 * A policy holds its parts under this symbol. Other objects hold the policy's `onerror` alone. Two versions of this
 * package may be loaded together: rename the symbol when the parts change.
 */
export const POLICY: unique symbol = Symbol.for('mrtr.policy.3');

type Reporting = { readonly [POLICY]?: { readonly onerror: ErrorListener | undefined } };

/**
 * Notes the listener for the errors of `owner`: of a server that a policy protects, of a browser's request. Or that a
 * function passes its errors on to that listener.
 */
export const noteListener = <T extends object>(owner: T, onerror: ErrorListener | undefined): T =>
  Object.defineProperty(owner, POLICY, { value: { onerror }, configurable: true });

/** The `onerror` of a policy, or the listener that was noted for `owner`. */
export const listenerOf = (owner: object): ErrorListener | undefined => (owner as Reporting)[POLICY]?.onerror;

/**
 * Passes an error that no client sees to each listener, once. Never throws. Without a listener, the first error of each
 * kind becomes a Node warning, so that an operator without `onerror` sees it once.
 */
export function tellOperator(thrown: unknown, ...onerror: readonly (ErrorListener | undefined)[]) {
  const error = onOneLine(asError(thrown));
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

function errorKind(error: Error) {
  const { code, reason = code } = error as { readonly code?: unknown; readonly reason?: unknown };
  return typeof reason === 'string' ? reason : withoutCall(error.message).replaceAll(/\d+|'[^']*'/g, '');
}
