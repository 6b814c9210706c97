/** An audit log. Each call must write one entry; a second one shows a repeated effect. */
export interface AuditLog {
  record(entry: string): Promise<void>;
  /** Every entry recorded, in order. */
  readonly entries: readonly string[];
}

/** An audit log in memory. `onRecord` is called after each entry is written. */
export function memoryAuditLog(onRecord?: (entry: string) => void): AuditLog {
  const entries: string[] = [];
  return {
    entries,
    async record(entry) {
      entries.push(entry);
      onRecord?.(entry);
    },
  };
}
