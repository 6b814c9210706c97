/** The resource without the protocol: what it asks, what it is made from, what it says. */
import type { ReadResourceResult } from '@mrtr/core';
import { z } from 'zod';

/** How the resource is announced. */
export const quarterly = {
  description: 'The quarter in figures. Asks for a currency.',
  mimeType: 'text/plain',
};

/** The answer to "In which currency?". */
export const Currency = z.object({ currency: z.enum(['EUR', 'USD']) });

/** For a client that cannot be asked. */
export const DEFAULT_CURRENCY: z.output<typeof Currency> = { currency: 'EUR' };

/** Thousands of euros. */
export type Figures = { readonly revenue: number; readonly costs: number };

/** Where the real work would be: a slow query, of figures that go on changing. */
export const queryFigures = async (): Promise<Figures> => ({ revenue: 1200, costs: 900 });

const RATES = { EUR: 1, USD: 1.1 };

/** The report itself. */
export function report(
  uri: URL,
  { revenue, costs }: Figures,
  { currency }: z.output<typeof Currency>,
): ReadResourceResult {
  const profit = Math.round((revenue - costs) * RATES[currency]);
  return {
    contents: [{ uri: uri.href, mimeType: quarterly.mimeType, text: `Profit: ${profit} k ${currency}.` }],
  };
}
