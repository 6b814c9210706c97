import { z } from 'zod';

/** The answer to the first question: how was the item resolved? */
export const Resolution = z.object({
  resolution: z.enum(['Fixed', 'Duplicate', "Won't fix"]).meta({ title: 'Resolution' }),
});

/** The answer to the second question, which is asked only for duplicates. Asked as a text: some clients draw no number. */
export const Original = z.object({
  original: z
    .string()
    .meta({ title: 'Original item', description: 'A number from 1 to 99999' })
    .transform(Number)
    .pipe(z.int().min(1).max(99999)),
});

/** The way in which an item was resolved. */
export type ResolutionKind = z.infer<typeof Resolution>['resolution'];

/** One work item. Only a resolved item has a resolution, and only a duplicate names its original. */
export type WorkItem =
  | { readonly id: number; readonly state: 'Active' }
  | {
      readonly id: number;
      readonly state: 'Resolved';
      readonly resolution: Exclude<ResolutionKind, 'Duplicate'>;
    }
  | {
      readonly id: number;
      readonly state: 'Resolved';
      readonly resolution: 'Duplicate';
      readonly original: number;
    };

/** The tracker. A rejected change writes nothing. */
export interface WorkItems {
  /** The item, or `undefined` if there is none. */
  find(id: number): Promise<WorkItem | undefined>;
  /** Reopens an item. To resolve one, use `resolve`, which takes the resolution. */
  setState(id: number, state: 'Active'): Promise<WorkItem>;
  /**
   * Resolves an item. Give `original` for `Duplicate` only.
   *
   * @throws Error when either item is unknown, or when the original is missing, not allowed, or the item itself.
   */
  resolve(id: number, resolution: ResolutionKind, original?: number): Promise<WorkItem>;
  /** Every write, in order. Two entries for one call show a repeated effect. */
  readonly writes: readonly WorkItem[];
}

/** A tracker in memory with the items 4301 and 4522, both active. `onWrite` is called after each write. */
export function memoryWorkItems(onWrite?: (item: WorkItem) => void): WorkItems {
  const items = new Map<number, WorkItem>();
  for (const id of [4301, 4522]) items.set(id, { id, state: 'Active' });
  const writes: WorkItem[] = [];

  const demand = (id: number) => {
    if (!items.has(id)) throw new Error(`There is no work item #${id}.`);
  };
  const write = (item: WorkItem) => {
    items.set(item.id, item);
    writes.push(item);
    onWrite?.(item);
    return item;
  };

  return {
    writes,
    async find(id) {
      return items.get(id);
    },
    async setState(id, state) {
      demand(id);
      return write({ id, state });
    },
    async resolve(id, resolution, original) {
      demand(id);
      if (resolution !== 'Duplicate') {
        if (original !== undefined)
          throw new Error(`Only a duplicate has an original; #${id} is ${resolution}.`);
        return write({ id, state: 'Resolved', resolution });
      }
      if (original === undefined) throw new Error(`To resolve #${id} as a duplicate, name its original.`);
      if (original === id) throw new Error(`#${id} cannot be a duplicate of itself.`);
      demand(original);
      return write({ id, state: 'Resolved', resolution, original });
    },
  };
}

/** The state of an item as one sentence: `#4522 resolved as Duplicate of #4301.` */
export function describeItem(item: WorkItem) {
  if (item.state === 'Active') return `#${item.id} is now Active.`;
  const of = item.resolution === 'Duplicate' ? ` of #${item.original}` : '';
  return `#${item.id} resolved as ${item.resolution}${of}.`;
}

/** The error for a client that cannot be asked: there is no sensible default. */
export const cannotResolve = (id: number) =>
  `#${id} was left as it is: resolving it needs a client that can be asked how it was resolved.`;
