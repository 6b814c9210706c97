/** Checks values that travel from round to round. */
import { NotJson } from '@mrtr/core';
import { mapValues } from '@mrtr/core/internal';

/**
 * Checks that `value` comes back from JSON unchanged. Otherwise a later round would see another value than the first.
 * `undefined` itself is allowed.
 *
 * @throws NotJson naming the path of the first value that would change.
 */
export function assertJson(value: unknown, what: string) {
  const path = value === undefined ? undefined : firstChange(value, '$', new Set());
  if (path !== undefined)
    throw new NotJson(`${what} is kept between rounds and must be JSON; ${path} is not. Convert it first.`);
}

/** A copy of a JSON value, in a tenth of the time of `structuredClone`, which can copy more. */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  return mapValues(value as Record<string, unknown>, copyJson) as T;
}

function firstChange(value: unknown, path: string, above: Set<object>): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (typeof value !== 'object' || above.has(value) || !isPlain(value)) return path;
  above.add(value);
  // A list's `entries` include its holes, which JSON would fill with null.
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const change =
      member === undefined && !Array.isArray(value)
        ? undefined
        : firstChange(member, `${path}.${key}`, above);
    if (change !== undefined) return change;
  }
  above.delete(value);
  return undefined;
}

function isPlain(value: object) {
  const prototype: unknown = Object.getPrototypeOf(value);
  // A list with more keys than items has named members (a RegExp match, for example), which JSON drops.
  if (Array.isArray(value)) return prototype === Array.prototype && Object.keys(value).length <= value.length;
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value);
}
