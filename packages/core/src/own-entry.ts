/** Records whose keys come from a client. */

/** `record[key]`, but nothing that is inherited: a client chooses the keys, so `__proto__` must find nothing. */
export const ownEntry = (record: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
