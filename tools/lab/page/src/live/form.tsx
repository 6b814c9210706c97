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
  const [choice] = choicesOf(field);
  if (field.default !== undefined || choice) return field.default ?? choice?.value;
  const { type, format } = field;
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return Math.max(1, Number(field.minimum ?? 1));
  const [item] = itemChoices(field);
  return type === 'array' ? (item ? [item.value] : []) : (EXAMPLES[String(format)] ?? 'yes');
}

/** What a field holds before the user has touched it: a text of JSON, or what it sends. */
function initial(kind: Kind, value: unknown): unknown {
  if (kind === 'choices') return Array.isArray(value) ? value : [];
  if (kind === 'yes') return value === true;
  if (value === undefined) return '';
  return kind === 'json' ? JSON.stringify(value) : kind === 'choice' ? value : String(value);
}

/** What a field sends; undefined if it is empty. @throws SyntaxError for what is no JSON */
function sentBy(kind: Kind, held: unknown): unknown {
  if (held === '') return undefined;
  // What is no number goes out as it was typed.
  if (kind === 'number' && Number.isNaN(Number(held))) return held;
  if (kind === 'json') return JSON.parse(String(held));
  return kind === 'number' ? Number(held) : held;
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

export function Form({
  label,
  schema,
  given = {},
  head,
  submit,
  disabled = false,
  onSubmit,
  children,
}: FormProps) {
  const fields = fieldsOf(schema);
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const [held, setHeld] = useState<Content>(() =>
    Object.fromEntries(
      fields.map(([name, field]) => [name, initial(kindOf(field), given[name] ?? field.default)]),
    ),
  );
  const [problem, setProblem] = useState('');
  const send = () => {
    try {
      const sent = fields.map(([name, field]) => [name, sentBy(kindOf(field), held[name])] as const);
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
        send();
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
              held={held[name]}
              onHeld={(value) => setHeld({ ...held, [name]: value })}
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
  readonly held: unknown;
  readonly onHeld: (held: unknown) => void;
}

function Input({ name, field, required, held, onHeld }: InputProps) {
  const kind = kindOf(field);
  const id = useId();
  const title = typeof field.title === 'string' ? field.title : name;
  const hint = typeof field.description === 'string' ? field.description : undefined;
  if (kind === 'choices') {
    const chosen = held as readonly unknown[];
    return (
      <span role="group" aria-label={title} title={hint}>
        {title}{' '}
        {itemChoices(field).map(({ value, title: words }, at) => (
          <label key={at}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={({ currentTarget: { checked } }) =>
                onHeld(checked ? [...chosen, value] : chosen.filter((one) => one !== value))
              }
            />
            {asText(words)}
          </label>
        ))}
      </span>
    );
  }
  const choices = choicesOf(field);
  const control = {
    id,
    title: hint,
    placeholder: placeholderOf(kind, field),
    required: required && kind !== 'yes',
  };
  return (
    <span class="field">
      <label for={id}>{title}</label>{' '}
      {kind === 'choice' && (
        <select
          {...control}
          value={choices.findIndex(({ value }) => value === held)}
          onChange={({ currentTarget }) => onHeld(choices[Number(currentTarget.value || -1)]?.value ?? '')}
        >
          <option value="">…</option>
          {choices.map(({ title: words }, at) => (
            <option key={at} value={at}>
              {asText(words)}
            </option>
          ))}
        </select>
      )}
      {kind === 'yes' && (
        <input
          {...control}
          type="checkbox"
          checked={held === true}
          onChange={(event) => onHeld(event.currentTarget.checked)}
        />
      )}
      {kind !== 'choice' && kind !== 'yes' && (
        <input
          {...control}
          type="text"
          inputMode={kind === 'number' ? 'numeric' : 'text'}
          value={String(held)}
          onInput={(event) => onHeld(event.currentTarget.value)}
        />
      )}
      {hint && <small class="quiet">{hint}</small>}
    </span>
  );
}

function placeholderOf(kind: Kind, { format, examples }: Field): string {
  const [example] = Array.isArray(examples) ? examples : [];
  return kind === 'json' ? 'JSON' : String(example ?? format ?? '');
}
