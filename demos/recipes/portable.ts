/** Questions that real clients can draw. */
import { elicitation } from '@mrtr/core';
import { z } from 'zod';

// A number: a text.
const Seats = z.string().meta({ description: 'A number from 1 to 9' }).transform(Number);
const AFew = z.int('Type a number.').min(1, 'At least one.').max(9, 'At most nine.');
export const seats = elicitation('How many seats?', z.object({ seats: Seats.pipe(AFew) }));

// One of few numbers.
const Stars = z.enum(['1', '2', '3']).transform(Number);
export const stars = elicitation('How many stars?', z.object({ stars: Stars }));

// May be left out.
const Meal = z.enum(['none', 'meat', 'vegan']).transform((meal) => (meal === 'none' ? undefined : meal));
export const meal = elicitation('Which meal?', z.object({ meal: Meal }));

// Several of many.
export const days = elicitation('Which days?', z.object({ monday: z.boolean(), tuesday: z.boolean() }));

// A time, with or without a zone.
const At = z.iso.datetime({ local: true, offset: true }).meta({ description: 'As 2026-02-03T10:00' });
export const departure = elicitation('When do you leave?', z.object({ at: At }));
