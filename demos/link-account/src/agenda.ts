/** The tool without the protocol: how it is announced, and what it needs. */
import type { PendingInteractions } from '@mrtr/pages';
import { z } from 'zod';

export const AGENDA = {
  description: "Says what is in the user's calendar today.",
  inputSchema: z.object({}),
};

/** What the user reads before they agree to open the page. */
export const LINK = 'Link your calendar, so that your agenda can be read.';

/** What came of the page: the account that the user linked there. */
export interface Linked {
  readonly account: string;
}

export interface Calendars {
  readonly link: PendingInteractions<Linked>;
  eventsOf(account: string): Promise<string>;
}
