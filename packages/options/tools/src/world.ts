import { type AuditLog, memoryAuditLog } from './audit-log.ts';
import { fixedWeather, type WeatherSource } from './weather.ts';
import { memoryWorkItems, type WorkItem, type WorkItems } from './work-items.ts';

/** Everything the two tools read and write: what an observer looks at to see what a call really did. */
export interface World {
  readonly weather: WeatherSource;
  readonly items: WorkItems;
  readonly audit: AuditLog;
}

/** How to watch a world from outside, and where its weather comes from. */
export interface WorldOptions {
  /** Called after an audit entry is written. */
  readonly onAudit?: ((entry: string) => void) | undefined;
  /** Called after a work item is written. */
  readonly onWrite?: ((item: WorkItem) => void) | undefined;
  /** `fixedWeather` unless given. */
  readonly weather?: WeatherSource | undefined;
}

/** A fresh world, sharing nothing with any other, so that no observation sees another one's effects. */
export function createWorld({ onAudit, onWrite, weather = fixedWeather }: WorldOptions = {}): World {
  return { weather, items: memoryWorkItems(onWrite), audit: memoryAuditLog(onAudit) };
}
