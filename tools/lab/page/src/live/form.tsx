/** A form drawn from a JSON Schema: of a question, or of a tool's arguments. What it cannot draw is typed as JSON. */

import { asText } from '@mrtr/harness/transcript';
import { choicesOf } from '@mrtr/harness/transcript/choices';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

type Schema = Readonly<Record<string, unknown>>;
/** The schema of a field. Its server may write anything in it. */
export type Field = Schema;
type Content = Readonly<Record<string, unknown>>;

/** The fields of a schema, by name. */
export function fieldsOf({ properties }: Schema): readonly (readonly [name: string, field: Field])[] {
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).filter(([, field]) => typeof field === 'object' && field !== null);
}

/** The choices of the items of a list. */
const itemChoices = ({ items }: Field) => choicesOf({ ...(items as Field | undefined) });

type Kind = 'choice' | 'choices' | 'yes' | 'number' | 'text' | 'json';

function kindOf(field: Field): Kind {
  const { type } = field;
  if (choicesOf(field).length > 0) return 'choice';
  if (type === 'array') return itemChoices(field).length > 0 ? 'choices' : 'json';
  if (type === 'boolean') return 'yes';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'string' ? 'text' : 'json';
}

const EXAMPLES: Schema = {
  email: 'ada@example.com',
  uri: 'https://example.com',
  date: '2026-02-03',
  'date-time': '2026-02-03T10:00:00Z',
};

/** An example that fits a field: what a program would enter in a person's place. */
export function exampleOf(field: Field): unknown {
  if (field.default !== undefined) return field.default;
  const [choice] = choicesOf(field);
  if (choice) return choice.value;
  const { type, format } = field;
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return Math.max(1, Number(field.minimum ?? 1));
  const [item] = itemChoices(field);
  if (type === 'array') return item ? [item.value] : [];
  return EXAMPLES[String(format)] ?? 'yes';
}

/** What a field sends; undefined if it is empty. @throws SyntaxError for what is no JSON */
function sentBy(field: Field, entered: readonly unknown[]): unknown {
  const kind = kindOf(field);
  const text = String(entered[0] ?? '');
  if (kind === 'yes') return entered.length > 0;
  if (kind === 'choices') return entered.map((at) => itemChoices(field)[Number(at)]?.value);
  if (text === '') return undefined;
  if (kind === 'choice') return choicesOf(field)[Number(text)]?.value;
  if (kind === 'json') return JSON.parse(text);
  // What is no number goes out as it was typed.
  return kind === 'number' && !Number.isNaN(Number(text)) ? Number(text) : text;
}

interface FormProps {
  readonly label: string;
  readonly schema: Schema;
  /** What stands in the fields at first. */
  readonly given?: Content;
  /** Stands above the fields. */
  readonly head?: ComponentChildren;
  /** The words of the button, or the buttons. */
  readonly submit: ComponentChildren;
  readonly disabled?: boolean;
  readonly onSubmit: (content: Content) => void;
  /** Stands beside the button. */
  readonly children?: ComponentChildren;
}

export function Form(props: FormProps) {
  const { label, schema, given = {}, head, submit, disabled = false, onSubmit, children } = props;
  const fields = fieldsOf(schema);
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const [problem, setProblem] = useState('');
  const send = (entered: FormData) => {
    try {
      const sent = fields.map(([name, field]) => [name, sentBy(field, entered.getAll(name))] as const);
      setProblem('');
      onSubmit(Object.fromEntries(sent.filter(([, value]) => value !== undefined)));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        send(new FormData(event.currentTarget));
      }}
    >
      {head}
      <div class="line">
        <fieldset disabled={disabled}>
          {fields.map(([name, field]) => (
            <Input
              key={name}
              name={name}
              field={field}
              required={required.includes(name)}
              given={given[name] ?? field.default}
            />
          ))}
          {typeof submit === 'string' ? (
            <button type="submit" class="primary">
              {submit}
            </button>
          ) : (
            submit
          )}
        </fieldset>
        {children}
      </div>
      {problem && (
        <small class="refusal" role="alert">
          {problem}
        </small>
      )}
    </form>
  );
}

interface InputProps {
  readonly name: string;
  readonly field: Field;
  readonly required: boolean;
  readonly given: unknown;
}

/** The control of a field. The browser holds what is entered; a choice is held by its place. */
function Input({ name, field, required, given }: InputProps) {
  const kind = kindOf(field);
  const id = useId();
  const title = typeof field.title === 'string' ? field.title : name;
  const hint = typeof field.description === 'string' ? field.description : undefined;
  if (kind === 'choices') {
    const chosen: readonly unknown[] = Array.isArray(given) ? given : [];
    return (
      <span role="group" aria-label={title} title={hint}>
        {title}{' '}
        {itemChoices(field).map(({ value, title: words }, at) => (
          <label key={at}>
            <input type="checkbox" name={name} value={at} defaultChecked={chosen.includes(value)} />
            {asText(words)}
          </label>
        ))}
      </span>
    );
  }
  const control = { id, name, title: hint, required: required && kind !== 'yes' };
  return (
    <span class="field">
      <label for={id}>{title}</label>{' '}
      {kind === 'choice' && (
        <select {...control}>
          <option value="">…</option>
          {choicesOf(field).map(({ value, title: words }, at) => (
            <option key={at} value={at} selected={value === given}>
              {asText(words)}
            </option>
          ))}
        </select>
      )}
      {kind === 'yes' && <input {...control} type="checkbox" defaultChecked={given === true} />}
      {kind !== 'choice' && kind !== 'yes' && (
        <input
          {...control}
          type="text"
          inputMode={kind === 'number' ? 'numeric' : 'text'}
          placeholder={placeholderOf(kind, field)}
          defaultValue={typeof given === 'string' && kind !== 'json' ? given : JSON.stringify(given)}
        />
      )}
      {hint && <small class="quiet">{hint}</small>}
    </span>
  );
}

function placeholderOf(kind: Kind, { format, examples }: Field) {
  const [example] = Array.isArray(examples) ? examples : [];
  return kind === 'json' ? 'JSON' : String(example ?? format ?? '');
}
