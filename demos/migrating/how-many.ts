import type { ElicitationForm } from '@mrtr/core';

/** The form of the old tool, as JSON Schema. It goes out unchanged. */
export const HOW_MANY = {
  type: 'object',
  properties: { people: { type: 'integer', title: 'Guests', minimum: 1, maximum: 12 } },
  required: ['people'],
} satisfies ElicitationForm;
