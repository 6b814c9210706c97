/** The example's business: it holds a table before the question, and books it afterwards. */

/** The effects of the tools. A database would check and write in one statement. */
export interface Restaurant {
  /** Holds a table for ten minutes: if nobody comes back, the hold ends by itself. The same `owner` gets the same table. */
  hold(date: string, owner: string): Promise<string>;
  /** Books a table, if `owner` still holds it. */
  book(table: string, owner: string, people: number): Promise<string>;
}

/** A user's time to answer (`ttlSeconds`). */
const HOLD_MS = 600_000;

export function createRestaurant(tables = 20, now: () => number = Date.now): Restaurant {
  const holds = new Map<string, { readonly owner: string; readonly until: number }>();
  const ownerOf = (table: string) => {
    const hold = holds.get(table);
    return hold && hold.until > now() ? hold.owner : undefined;
  };
  return {
    hold: async (date, owner) => {
      const names = Array.from({ length: tables }, (_, at) => `table ${at + 1} on ${date}`);
      const table = names.find((name) => ownerOf(name) === owner) ?? names.find((name) => !ownerOf(name));
      if (!table) throw new Error('No table is free.');
      holds.set(table, { owner, until: now() + HOLD_MS });
      return table;
    },
    book: async (table, owner, people) => {
      if (ownerOf(table) !== owner) throw new Error('The table is no longer held for you. Call again.');
      holds.set(table, { owner: 'booked', until: Number.POSITIVE_INFINITY });
      return `Booked ${table} for ${people}.`;
    },
  };
}

/** A restaurant with twenty tables. */
export const restaurant = createRestaurant();
