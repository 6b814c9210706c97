/** Warnings of the process. */
import { processWide } from '@mrtr/core/shape';

/** Emits a warning of Node, once in a process. */
export function warnOnce(code: `MRTR_${string}`, message: string): void {
  const warned = processWide('ledgers-warned', () => new Set<string>());
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(message, { code });
}
