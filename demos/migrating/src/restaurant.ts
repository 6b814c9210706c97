/** The business of the example: a table is held before the question, and booked after it. */

/** The effects of the tools. */
export interface Restaurant {
  /** Reserves a table for some minutes; gives the reservation's id. */
  hold(date: string): Promise<string>;
  book(hold: string, people: number): Promise<string>;
}

const held: string[] = [];

/** A restaurant with a table for everybody. */
export const restaurant: Restaurant = {
  hold: async (date) => `hold ${held.push(date)}`,
  book: async (hold, people) => `Booked ${hold} for ${people}.`,
};
