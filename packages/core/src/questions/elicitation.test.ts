import { expect, test } from 'vitest';
import { z } from 'zod';
import { InvalidDefinition, InvalidOption } from '../errors.ts';
import { type ElicitationForm, elicitation } from './elicitation.ts';
import { urlElicitation } from './url-elicitation.ts';

const form = () => z.object({ units: z.enum(['metric', 'imperial']), note: z.string().optional() });

test.each<[string, string, z.ZodObject, boolean?]>([
  ['nothing', 'Which units?', form(), true],
  ['the message', 'Which units, please?', form()],
  ['choices', 'Which units?', z.object({ units: z.enum(['metric', 'kelvin']), note: z.string().optional() })],
  ['fields', 'Which units?', z.object({ units: z.enum(['metric', 'imperial']) })],
])(
  'the digest tells questions apart by their words and their form (change: %s)',
  (_what, message, schema, isSame = false) => {
    expect(elicitation(message, schema).digest === elicitation('Which units?', form()).digest).toBe(isSame);
  },
);

test('only the form’s fields of an answer are kept', () => {
  const { keep } = elicitation('Which units?', form());
  const extra = { units: 'metric', admin: true, constructor: 'x' };
  expect(keep({ action: 'accept', content: extra, _meta: { a: 1 } })).toEqual({
    action: 'accept',
    content: { units: 'metric' },
  });
  expect(keep({ action: 'accept', content: null })).toEqual({ action: 'accept' });
  expect(keep({ action: 'decline', content: { units: 'metric' } })).toEqual({ action: 'decline' });
  expect(keep({ action: 'cancel' })).toEqual({ action: 'cancel' });
});

const units = elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial']) }));
const accept = (content: unknown) => ({ action: 'accept', content });

test.each([
  ['accepted', accept({ units: 'metric' }), { kind: 'accepted', value: { units: 'metric' } }],
  ['declined', { action: 'decline' }, { kind: 'declined' }],
  ['cancelled', { action: 'cancel' }, { kind: 'cancelled' }],
  ['missing, because none came', undefined, { kind: 'missing' }],
  ['missing, because it was accepted without content', { action: 'accept' }, { kind: 'missing' }],
  ['missing, because its content is a list', accept([{ units: 'metric' }]), { kind: 'missing' }],
  [
    'missing, because its action is unknown',
    { action: 'perhaps', content: { units: 'metric' } },
    { kind: 'missing' },
  ],
  ['missing, because it answers another kind of question', { roots: [] }, { kind: 'missing' }],
  [
    'invalid, because the value is not offered',
    accept({ units: 'kelvin' }),
    { kind: 'invalid', issues: [expect.objectContaining({ path: ['units'] })] },
  ],
  [
    'invalid, because the field is missing',
    accept({}),
    { kind: 'invalid', issues: [expect.objectContaining({ path: ['units'] })] },
  ],
])('an answer is %s', (_what, response, answer) => {
  expect(units.read(response)).toEqual(answer);
});

test('the value of an accepted answer is the output of the schema, without other fields', () => {
  const age = elicitation('How old?', z.object({ age: z.number().int().default(18) }));
  expect(age.read(accept({ age: 7, admin: true }))).toEqual({ kind: 'accepted', value: { age: 7 } });
  expect(age.read(accept({}))).toEqual({ kind: 'accepted', value: { age: 18 } });
});

test('an acceptance without content is an answer to a form without required fields', () => {
  const note = elicitation('Any note?', z.object({ note: z.string().optional() }));
  expect(note.read({ action: 'accept' })).toEqual({ kind: 'accepted', value: {} });
});

const ASYNCHRONOUS = new InvalidDefinition(
  'The schema of "Which name?" validates asynchronously; answers are read synchronously. Check in the handler what needs to ' +
    'wait, and ask again if it does not hold.',
);

const later = async () => true;
test.each<[string, z.ZodType]>([
  ['text', z.string().min(3).refine(later)],
  ['email', z.email().refine(later)],
  ['address', z.url().refine(later)],
  ['date', z.iso.date().refine(later)],
  ['time', z.iso.datetime().refine(later)],
  ['number', z.int().min(5).refine(later)],
  ['yes or no', z.boolean().refine(later)],
  ['choice', z.enum(['a', 'b']).refine(later)],
  ['titled choice', z.union([z.literal('a').meta({ title: 'A' })]).refine(later)],
  [
    'list',
    z
      .array(z.enum(['a', 'b']))
      .min(1)
      .refine(later),
  ],
])('a schema that validates a %s asynchronously is rejected where the question is made', (_what, field) => {
  expect(() => elicitation('Which name?', z.object({ field }))).toThrow(ASYNCHRONOUS);
  expect(() => elicitation('Which name?', z.object({ field: z.optional(field) }).refine(later))).toThrow(
    ASYNCHRONOUS,
  );
});

test('a check of the author that throws for an invented answer is asked of real ones', () => {
  const checked = z.string().refine((text) => {
    if (!text.startsWith('Ada')) throw new RangeError('Nobody knows them.');
    return true;
  });
  const name = elicitation('Which name?', z.object({ name: checked }));
  expect(name.read(accept({ name: 'Ada' }))).toEqual({ kind: 'accepted', value: { name: 'Ada' } });
});

test('a schema that validates asynchronously is rejected when an answer comes, with its question', () => {
  // An invented answer does not get that far.
  const ada = z.string().refine((text) => (text === 'Ada' ? later() : true) as boolean);
  // In an object, zod does not say that a transform is asynchronous.
  for (const field of [ada, z.string().transform(async (text) => text)]) {
    const name = elicitation('Which name?', z.object({ name: field }));
    expect(() => name.read(accept({ name: 'Ada' }))).toThrow(ASYNCHRONOUS);
  }
});

test('a time without a zone can be asked, and the schema still checks what the form cannot', () => {
  const at = z.iso.datetime({ local: true, offset: true });
  const when = elicitation('When?', z.object({ at }));
  expect(when.request.params).toMatchObject({
    requestedSchema: { properties: { at: { type: 'string', format: 'date-time' } } },
  });
  for (const time of ['2026-02-03T10:00', '2026-02-03T10:00:00Z', '2026-02-03T10:00:00+01:00'])
    expect(when.read(accept({ at: time }))).toMatchObject({ kind: 'accepted' });
  expect(when.read(accept({ at: 'tomorrow' }))).toMatchObject({ kind: 'invalid' });
  const ours = elicitation('Whom?', z.object({ to: z.email({ pattern: /@ours[.]example$/ }) }));
  expect(ours.read(accept({ to: 'ada@ours.example' }))).toMatchObject({ kind: 'accepted' });
  expect(ours.read(accept({ to: 'ada@example.com' }))).toMatchObject({ kind: 'invalid' });
});

test.each([undefined, null, 'a text'])('a question without a schema, but with %s, is rejected', (schema) => {
  expect(() => elicitation('Where?', schema as never)).toThrow(
    /^elicitation: schema must be a schema or a form; it is /,
  );
});

test('a question without words is rejected', () => {
  const named = new InvalidOption('elicitation: message must be a text that is not empty; it is undefined.');
  expect(() => elicitation(undefined as never, z.object({}))).toThrow(named);
  expect(() => urlElicitation('', 'https://shop.example')).toThrow(/^urlElicitation: message must be a text/);
});

const FORM = {
  type: 'object',
  properties: {
    people: { type: 'integer', title: 'Guests', minimum: 1 },
    table: { type: 'string', pattern: '^T' },
    room: { type: 'number', enum: [1, 2] },
    window: { type: 'boolean', default: false },
  },
  required: ['people'],
} as const;

test('a form that is given as JSON Schema goes out as it stands, and its answers are held to it', () => {
  const table = elicitation<{ people: number }>('How many guests?', FORM as never);
  expect(table.request.params).toEqual({ mode: 'form', message: 'How many guests?', requestedSchema: FORM });
  const accept = (content: object) => table.read({ action: 'accept', content });
  const guests = { people: 2, table: 'T1', room: 2 };
  expect(accept({ ...guests, uninvited: 'guest' })).toEqual({ kind: 'accepted', value: guests });
  for (const wrong of [{ people: 0 }, {}, { people: 2, table: 'b' }, { people: 2, room: 3 }])
    expect(accept(wrong)).toMatchObject({ kind: 'invalid' });
  // The same form makes the same question, so an answer of an earlier round still counts.
  expect(elicitation('How many guests?', FORM as never).digest).toBe(table.digest);
});

test('a form that is not flat is rejected when the question is made', () => {
  const nested = { type: 'object', properties: { address: { type: 'object', properties: {} } } };
  for (const form of [nested, { type: 'string' }, {}]) {
    expect(() => elicitation('Where?', form as never)).toThrow('A question needs a flat form');
  }
});

test('a form that its author changes between calls is another question, with answers of its own', () => {
  const form: ElicitationForm = { type: 'object', properties: { to: { type: 'string', enum: ['ada'] } } };
  const before = elicitation('Pay whom?', form);
  form.properties.to = { type: 'string', enum: ['bob'] };
  const after = elicitation('Pay whom?', form);
  expect(after.digest).not.toBe(before.digest);
  for (const [asked, to, other] of [
    [before, 'ada', 'bob'],
    [after, 'bob', 'ada'],
  ] as const) {
    expect(asked.request.params).toMatchObject({ requestedSchema: { properties: { to: { enum: [to] } } } });
    expect(asked.read({ action: 'accept', content: { to } })).toMatchObject({ kind: 'accepted' });
    expect(asked.read({ action: 'accept', content: { to: other } })).toMatchObject({ kind: 'invalid' });
  }
});

const asForm = (properties: object, required?: readonly string[]) =>
  ({ type: 'object', properties, ...(required && { required }) }) as unknown as ElicitationForm;

test.each<[string, ElicitationForm | z.ZodObject, string]>([
  ['a required field that it does not have', asForm({ a: { type: 'string' } }, ['b']), "'b' is required"],
  [
    'a minimum above the maximum',
    z.object({ n: z.number().min(9).max(1) }),
    "'n' has the minimum 9 above its maximum 1",
  ],
  [
    'a longer minimum than maximum',
    asForm({ a: { type: 'string', minLength: 3, maxLength: 2 } }),
    "'a' has the minLength 3 above its maxLength 2",
  ],
  [
    'a default outside its own schema',
    asForm({ a: { type: 'string', enum: ['x'], default: 'y' } }),
    'the default of \'a\', "y", does not fit',
  ],
  ...['enum', 'oneOf'].flatMap((choices): [string, ElicitationForm, string][] => [
    [`an empty ${choices}`, asForm({ a: { type: 'string', [choices]: [] } }), "'a' has no choices"],
  ]),
  [
    'an empty choice of several titles',
    asForm({ a: { type: 'array', items: { anyOf: [] } } }),
    "'a' has no choices",
  ],
  [
    'a field __proto__',
    asForm(JSON.parse('{"__proto__":{"type":"string"}}')),
    "a field cannot be named '__proto__'",
  ],
])('a form with %s is rejected where it is defined', (_what, form, why) => {
  const define = () => elicitation('How many?', form as ElicitationForm);
  expect(define).toThrow(InvalidDefinition);
  expect(define).toThrow(`The form of "How many?" cannot be answered: ${why}`);
});

test('a default that fits is sent', () => {
  const { request } = elicitation('How many?', z.object({ n: z.number().min(1).default(2) }));
  expect(request.params).toMatchObject({ requestedSchema: { properties: { n: { default: 2 } } } });
});

test('the fields of a schema alone are rejected with the way to write them', () => {
  const fields = { units: z.string() } as unknown as z.ZodObject;
  expect(() => elicitation('Which units?', fields)).toThrow('wrap it in z.object(…)');
});

test('the error of a schema that cannot be a form has one full stop after its reason', () => {
  const nested = z.object({ a: z.object({ b: z.string() }) });
  const define = () => elicitation('Which?', nested);
  expect(define).toThrow(InvalidDefinition);
  expect(define).not.toThrow('..');
});
