/** The resource without the protocol: its question, its figures and its text. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { elicitation } from '@mrtr/core';
import { z } from 'zod';

/** The resource's definition. */
export const quarterly = {
  description: 'The quarter in figures. Asks for a currency.',
  mimeType: 'text/plain',
};

const Currency = z.object({ currency: z.enum(['EUR', 'USD']).meta({ title: 'Currency' }) });

/** The question. A client that cannot be asked gets euros. */
export const whichCurrency = elicitation('In which currency?', Currency, { fallback: { currency: 'EUR' } });

/** Thousands of euros. */
export type Figures = { readonly revenue: number; readonly costs: number };

/** Stands for the real work: a slow query of figures that keep changing. */
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
