/** Estimates the memory of a value: 1 MiB of JSON can take twenty times as much once it is parsed. */

const REFERENCE = 8;
const OBJECT = 56;

/** Estimates the memory that `value` holds, in bytes. Counts each object once, and stops above `enough`. */
export function heldBytes(value: unknown, enough = Number.POSITIVE_INFINITY) {
  const seen = new Set<object>();
  const left: unknown[] = [value];
  let bytes = 0;
  while (left.length > 0 && bytes <= enough) {
    const next = left.pop();
    bytes += REFERENCE;
    if (typeof next === 'string') bytes += Buffer.byteLength(next);
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    bytes += OBJECT;
    if (ArrayBuffer.isView(next)) bytes += next.byteLength;
    else if (next instanceof Map) for (const entry of next) left.push(...entry);
    else if (Array.isArray(next) || next instanceof Set) for (const item of next) left.push(item);
    else
      for (const [key, held] of Object.entries(next)) {
        bytes += Buffer.byteLength(key);
        left.push(held);
      }
  }
  return bytes;
}
