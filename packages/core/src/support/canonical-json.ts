/** One text per JSON value, so that equal values have equal digests. */

/** How deep a value may be nested: a client chooses it, and the stack is finite. */
export const MAX_DEPTH = 200;

/**
 * JSON with object keys in code-unit order and no white space. Key order, number form (`1.0`, `1e0`, `-0`)
 * and unicode escapes of the text that a value was parsed from do not show in it; unequal values differ. A value is
 * what a handler sees of the text: the last of two equal keys, and the double that is nearest to a number.
 * A member whose value is undefined is left out, as `JSON.stringify` does.
 *
 * @throws RangeError for nesting deeper than {@link MAX_DEPTH}.
 * @throws TypeError for a primitive that is not JSON (a bigint, NaN, a function).
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH)
    throw new RangeError(`JSON nested deeper than ${MAX_DEPTH} levels has no canonical form here.`);
  if (value === null || typeof value !== 'object') return primitive(value);
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item ?? null, depth + 1)).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member, depth + 1)}`);
  }
  return `{${members.join(',')}}`;
}

function primitive(value: unknown): string {
  // JSON.stringify writes lone surrogates as escapes, so two different ones never meet in one UTF-8 text.
  const text = typeof value === 'number' && !Number.isFinite(value) ? undefined : JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${String(value)} is not JSON.`);
  return text;
}
