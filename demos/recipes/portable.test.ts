import type { Question } from '@mrtr/core';
import { expect, test } from 'vitest';
import * as portable from './portable.ts';

const ANSWERS: Readonly<Record<string, readonly [content: object, value: object]>> = {
  seats: [{ seats: '4' }, { seats: 4 }],
  stars: [{ stars: '2' }, { stars: 2 }],
  meal: [{ meal: 'none' }, { meal: undefined }],
  days: [
    { monday: true, tuesday: false },
    { monday: true, tuesday: false },
  ],
  departure: [{ at: '2026-02-03T10:00' }, { at: '2026-02-03T10:00' }],
};

test('each question of the document is of the kinds that every client draws, and reads as it says', () => {
  expect(Object.keys(ANSWERS).sort()).toEqual(Object.keys(portable).sort());
  for (const [name, question] of Object.entries<Question>({ ...portable })) {
    const [content, value] = ANSWERS[name] ?? [];
    const { properties, required } = (
      question.request.params as { requestedSchema: { properties: object; required: object } }
    ).requestedSchema;
    expect(required).toEqual(Object.keys(properties));
    for (const field of Object.values(properties)) expect(field.type).toMatch(/^(string|boolean)$/);
    expect(question.read({ action: 'accept', content })).toEqual({ kind: 'accepted', value });
  }
  const tooMany = portable.seats.read({ action: 'accept', content: { seats: '12' } });
  expect(tooMany).toMatchObject({ kind: 'invalid', issues: [{ message: 'At most nine.' }] });
});
