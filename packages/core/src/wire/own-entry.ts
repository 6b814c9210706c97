/** `record[key]`, without inherited entries: a client chooses the keys, and `__proto__` must find nothing. */
export const ownEntry = (record: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
