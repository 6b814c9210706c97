/** The business of the example: a table is held before the question, and booked after it. */

/** What the tools do to the world. */
export interface Restaurant {
  /** Reserves a table for some minutes; gives the reservation's id. */
  hold(date: string): Promise<string>;
  book(hold: string, people: number): Promise<string>;
}

/** The form, as the old tool had it: JSON Schema. It goes out as it stands. */
export const HOW_MANY = {
  type: 'object' as const,
  properties: { people: { type: 'integer' as const, title: 'Guests', minimum: 1, maximum: 12 } },
  required: ['people'],
};
