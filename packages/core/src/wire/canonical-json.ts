/** Canonical JSON: equal values have equal texts, and so equal digests. */

/** The deepest nesting of a value. A client chooses the nesting, and the stack is finite. */
export const MAX_DEPTH = 200;

/**
 * JSON with object keys in code-unit order and no white space. It compares parsed values, as a handler sees them: key
 * order, number form (`1.0`, `1e0`, `-0`) and unicode escapes of the original text make no difference. Unequal values
 * give different texts. Members whose value is undefined are left out, as by `JSON.stringify`.
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

function primitive(value: unknown) {
  // JSON.stringify escapes lone surrogates, so different ones stay different in UTF-8.
  const text = typeof value === 'number' && !Number.isFinite(value) ? undefined : JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${String(value)} is not JSON.`);
  return text;
}
