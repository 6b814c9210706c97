import { fixedWeather, type WeatherSource } from './weather.ts';
import { memoryWorkItems, type WorkItem, type WorkItems } from './work-items.ts';

/** Everything that the two tools read and write. Observers see a call's real effects here. */
export interface World {
  readonly weather: WeatherSource;
  readonly items: WorkItems;
  readonly audit: AuditLog;
}

/** Callbacks to watch a world. */
export interface WorldOptions {
  /** Called after an audit entry is written. */
  readonly onAudit?: ((entry: string) => void) | undefined;
  /** Called after a work item is written. */
  readonly onWrite?: ((item: WorkItem) => void) | undefined;
}

/** Makes a world that shares nothing with others, so that each observation sees only its own effects. */
export function createWorld({ onAudit, onWrite }: WorldOptions = {}): World {
  return { weather: fixedWeather, items: memoryWorkItems(onWrite), audit: memoryAuditLog(onAudit) };
}

/** An audit log. Each call must write one entry; a second one shows a repeated effect. */
export interface AuditLog {
  record(entry: string): Promise<void>;
  /** Every entry recorded, in order. */
  readonly entries: readonly string[];
}

/** An audit log in memory. `onRecord` is called after each entry is written. */
function memoryAuditLog(onRecord?: (entry: string) => void): AuditLog {
  const entries: string[] = [];
  return {
    entries,
    async record(entry) {
      entries.push(entry);
      onRecord?.(entry);
    },
  };
}
