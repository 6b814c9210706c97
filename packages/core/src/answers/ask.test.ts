import { expect, test } from 'vitest';
import { z } from 'zod';
import { InvalidDefinition, InvalidOption, NotJson } from '../errors.ts';
import { elicitation } from '../questions/elicitation.ts';
import { ask } from './ask.ts';

const units = elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial']) }));
const name = elicitation('Which name?', z.object({ name: z.string() }));

test('the result asks every question under its key, and keeps no state', () => {
  expect(ask({ units, name })).toEqual({
    resultType: 'input_required',
    inputRequests: { units: units.request, name: name.request },
  });
});

test('state goes out as JSON', () => {
  expect(ask({ units }, { state: { at: [1, null] } }).requestState).toBe('{"at":[1,null]}');
  expect(ask({ units }, { state: null }).requestState).toBe('null');
  expect(ask({ units }, { state: undefined })).not.toHaveProperty('requestState');
});

test.each([
  ['a function', () => 1],
  ['a number that JSON has no word for', 1n],
])('state that is %s is rejected', (_what, state) => {
  expect(() => ask({ units }, { state })).toThrow(NotJson);
});

test('a value that is not a question is rejected, by its key', () => {
  expect(() => ask({ units: 'Which units?' as never })).toThrow(
    new InvalidDefinition(
      "'units' is not a question. Make one with elicitation(...), sampling(...) or listRoots().",
    ),
  );
});

test('a question without a key, and no question, are rejected', () => {
  expect(() => ask(units as never)).toThrow(
    "Give the question a key: return ask({ units }), or ctx.ask('units', units).",
  );
  expect(() => ask({})).toThrow('ask: give at least one question.');
});

test('a question under the key `__proto__` is rejected, because its answer would not arrive', () => {
  expect(() => ask({ units, ['__proto__']: name })).toThrow("A question cannot have the key '__proto__'");
});

test('an unknown option is rejected', () => {
  expect(() => ask({ units }, { requestState: 'x' } as object)).toThrow(InvalidOption);
});
