/** A select. */

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: Readonly<Record<Value, string>>;
  readonly lacks?: (value: Value) => boolean;
  readonly onChoice: (value: Value) => void;
  readonly class?: string;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, choices, lacks, onChoice, ...select } = props;
  return (
    <select {...select} aria-label={label} onChange={(event) => onChoice(event.currentTarget.value as Value)}>
      {(Object.entries(choices) as [Value, string][]).map(([id, words]) => (
        <option key={id} value={id} disabled={lacks?.(id)}>
          {words}
        </option>
      ))}
    </select>
  );
}
