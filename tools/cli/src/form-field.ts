/** One field of a form at a terminal: its prompt, and the value of a typed text. */
import { choicesOf } from '@mrtr/harness/internal';
import { asText } from '@mrtr/harness/transcript';

/** A field's JSON Schema, from the server. */
export type Field = Readonly<Record<string, unknown>>;

export type Value = string | number | boolean | readonly string[];

/** `Units, required (1 metric | 2 imperial; decline, cancel) [metric]: `. */
export function promptOf(name: string, field: Field, required: boolean) {
  const { title, description, default: preset } = field;
  const said = typeof description === 'string' ? ` – ${description}` : '';
  const titleOf = (value: unknown) => choicesIn(field).find((one) => one.value === value)?.title ?? value;
  const enter = preset === undefined ? '' : ` [${[preset].flat().map(titleOf).join(', ')}]`;
  const label = typeof title === 'string' ? title : name;
  return `${label}${said}${required ? ', required' : ''} (${describeAllowed(field)}; decline, cancel)${enter}: `;
}

/** The values that a field allows: `1 metric | 2 imperial`, `yes | no`, `whole number from 1 to 99999`. */
export function describeAllowed(field: Field) {
  const { type, minimum, maximum, format } = field;
  const choices = choicesIn(field);
  if (choices.length > 0) {
    const all = choices.map(({ title }, at) => `${at + 1} ${title}`).join(' | ');
    return type === 'array' ? `several, with commas: ${all}` : all;
  }
  if (type === 'boolean') return 'yes | no';
  if (type !== 'integer' && type !== 'number') return typeof format === 'string' ? format : 'text';
  const from = minimum === undefined ? '' : ` from ${minimum}`;
  const to = maximum === undefined ? '' : ` to ${maximum}`;
  return `${type === 'integer' ? 'whole number' : 'number'}${from}${to}`;
}

/** Converts typed text that fits the field. Other text stays text; an empty text gives the default. */
export function parseTyped(field: Field, text: string) {
  const { type } = field;
  if (text === '') return field.default as Value | undefined;
  const choices = choicesIn(field);
  if (type === 'array') return text.split(',').map((part) => choose(choices, part.trim()));
  if (choices.length > 0) return choose(choices, text);
  if (type === 'boolean' && /^(y|n|yes|no|true|false)$/i.test(text)) return /^[yt]/i.test(text);
  const number = Number(text);
  return (type === 'integer' || type === 'number') && Number.isFinite(number) ? number : text;
}

const choicesIn = (field: Field) =>
  choicesOf((field.items ?? field) as Field).map(({ value, title }) => ({
    value: asText(value),
    title: asText(title),
  }));

/** The choice that a text names, by its value, its title or its number, in upper or lower case. */
function choose(choices: ReturnType<typeof choicesIn>, text: string) {
  const typed = text.toLowerCase();
  const chosen =
    choices.find(({ value }) => value === text) ??
    choices.find(({ value, title }) => [value, title].some((one) => one.toLowerCase() === typed)) ??
    (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined);
  return chosen?.value ?? text;
}
