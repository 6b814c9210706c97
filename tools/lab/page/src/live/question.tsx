/** An open question to the person at the page, with its form. */
import type { Reply } from '@mrtr/harness';
import { useState } from 'preact/hooks';
import type { Asked } from '../../../src/protocol.ts';
import { timeLeft, useNow } from '../viewer/time.ts';

interface Field {
  readonly type?: string;
  readonly enum?: readonly string[];
}

interface QuestionProps {
  readonly asked: Asked;
  /** The time when the answer's state expires; undefined without state. */
  readonly until: number | undefined;
  readonly onReply: (reply: Reply) => void;
}

export function Question({ asked, until, onReply }: QuestionProps) {
  const now = useNow(until !== undefined);
  const left = until === undefined ? undefined : timeLeft(until, now);
  const fields = Object.entries((asked.schema.properties ?? {}) as Readonly<Record<string, Field>>);
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const [sole] = fields;
  const accept = (content: Record<string, string | number | boolean>) =>
    onReply({ action: 'accept', content });
  return (
    <form
      aria-label="The tool asks you"
      onSubmit={(event) => {
        event.preventDefault();
        accept(
          Object.fromEntries(fields.map(([name, field]) => [name, parseField(field, given[name] ?? '')])),
        );
      }}
    >
      <div class="line">
        <b class="question" role="status">
          ☺ {asked.message}
        </b>
        {left && (
          <small class={left === 'expired' ? 'refusal' : 'quiet'}>
            {left === 'expired'
              ? 'This question has expired: cancel it, and call again.'
              : `expires in ${left}`}
          </small>
        )}
        <fieldset disabled={left === 'expired'}>
          {fields.length === 1 && sole?.[1].enum ? (
            sole[1].enum.map((choice) => (
              <button
                key={choice}
                type="button"
                class="primary"
                onClick={() => accept({ [sole[0]]: choice })}
              >
                {choice}
              </button>
            ))
          ) : (
            <>
              {fields.map(([name, field]) => (
                <label key={name}>
                  {name}{' '}
                  <input
                    type="text"
                    inputMode={field.type === 'integer' || field.type === 'number' ? 'numeric' : 'text'}
                    required
                    placeholder={name === 'original' ? '4301' : ''}
                    value={given[name] ?? ''}
                    onInput={(event) => setGiven({ ...given, [name]: event.currentTarget.value })}
                  />
                </label>
              ))}
              <button type="submit" class="primary">
                Answer
              </button>
            </>
          )}
        </fieldset>
        {REFUSALS.map(([words, reply, title]) => (
          <button
            key={words}
            type="button"
            title={title}
            disabled={left === 'expired' && words !== 'Cancel'}
            onClick={() => onReply(reply ?? unfit(fields))}
          >
            {words}
          </button>
        ))}
      </div>
    </form>
  );
}

function parseField({ type }: Field, text: string): string | number | boolean {
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}

const unfit = (fields: readonly (readonly [string, Field])[]): Reply => ({
  action: 'accept',
  content: Object.fromEntries(fields.map(([name, field]) => [name, field.enum ? 'kelvin' : -1])),
});

/** The other replies; the first depends on the form. */
const REFUSALS: readonly (readonly [words: string, reply?: Reply | undefined, title?: string])[] = [
  ['Nonsense', undefined, 'An answer that breaks the form'],
  ['Decline', { action: 'decline' }],
  ['Cancel', { action: 'cancel' }],
  ['Say nothing', 'silence', 'The client goes on without an answer'],
];
