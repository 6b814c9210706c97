/** Gauges for metrics. They keep no counts of their own: reading one asks the objects that do. */
import { processWide } from '../process-wide.ts';

/** The names of all gauges. */
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

// A policy may be made per request, so its source is removed when the policy is garbage.
const known = processWide('gauges.1', () => {
  const sources = new Set<Source>();
  return { sources, gone: new FinalizationRegistry<Source>((source) => sources.delete(source)) };
});

/** Adds `read(owner)` to the gauge `name` while `owner` is alive. `read` must not reference the owner itself. */
export function addGauge<Owner extends object>(
  name: GaugeName,
  owner: Owner,
  read: (owner: Owner) => number,
) {
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

/** Reads all gauges of this process. */
export function readGauges(): Readonly<Record<GaugeName, number>> {
  const sums = Object.fromEntries(GAUGES.map((name) => [name, 0])) as Record<GaugeName, number>;
  for (const { name, read } of known.sources) if (name in sums) sums[name] += read();
  return sums;
}
