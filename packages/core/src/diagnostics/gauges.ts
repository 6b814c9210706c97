/** What this process holds now, for metrics. Nothing is counted a second time: a reader asks who holds it. */
import { processWide } from '../support/process-wide.ts';

/** What can be read. */
export const GAUGES = [
  'calls.running',
  'calls.abandoned',
  'frames.parked',
  'pages.pending',
  'sessions',
  'streams',
  'streams.unread_bytes',
] as const;
export type GaugeName = (typeof GAUGES)[number];

interface Source {
  readonly name: GaugeName;
  read(): number;
}

// A policy may be made per request, so its source must go when it does.
const known = processWide('gauges.1', () => {
  const sources = new Set<Source>();
  return { sources, gone: new FinalizationRegistry<Source>((source) => sources.delete(source)) };
});

/** Has {@link readGauges} add `read(owner)` to `name`, as long as `owner` lives. `read` must not hold the owner itself. */
export function addGauge<Owner extends object>(
  name: GaugeName,
  owner: Owner,
  read: (owner: Owner) => number,
): void {
  const held = new WeakRef(owner);
  const source: Source = {
    name,
    read: () => {
      const living = held.deref();
      return living ? read(living) : 0;
    },
  };
  known.sources.add(source);
  known.gone.register(owner, source);
}

/** What this process holds now, by name. */
export function readGauges(): Readonly<Record<GaugeName, number>> {
  const sums = Object.fromEntries(GAUGES.map((name) => [name, 0])) as Record<GaugeName, number>;
  for (const { name, read } of known.sources) if (name in sums) sums[name] += read();
  return sums;
}
