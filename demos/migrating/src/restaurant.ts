/** The business of the example: a table is held before the question, and booked after it. */

/** The effects of the tools. */
export interface Restaurant {
  /** Reserves a table for some minutes; gives the reservation's id. */
  hold(date: string): Promise<string>;
  book(hold: string, people: number): Promise<string>;
}

/** The form of the old tool, as JSON Schema. It goes out unchanged. */
export const HOW_MANY = {
  type: 'object' as const,
  properties: { people: { type: 'integer' as const, title: 'Guests', minimum: 1, maximum: 12 } },
  required: ['people'],
};
