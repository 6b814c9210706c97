/** An open question to the person at the page, with its form. */
import type { Reply } from '@mrtr/harness';
import { useEffect, useState } from 'preact/hooks';
import type { Asked } from '../../../src/protocol.ts';

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

export function QuestionForm({ asked, until, onReply }: QuestionProps) {
  const left = useTimeLeft(until);
  const isExpired = left === 'expired';
  const fields = Object.entries((asked.schema.properties ?? {}) as Readonly<Record<string, Field>>);
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const choices = fields.length === 1 && fields[0]?.[1].enum;
  const accept = (fill: (field: Field, name: string) => string | number | boolean) =>
    onReply({
      action: 'accept',
      content: Object.fromEntries(fields.map(([name, field]) => [name, fill(field, name)])),
    });
  return (
    <form
      aria-label="The tool asks you"
      onSubmit={(event) => {
        event.preventDefault();
        accept((field, name) => parseField(field, given[name] ?? ''));
      }}
    >
      <div class="line">
        <b class="question" role="status">
          ☺ {asked.message}
        </b>
        {left && (
          <small class={isExpired ? 'refusal' : 'quiet'}>
            {isExpired ? 'This question has expired: cancel it, and call again.' : `expires in ${left}`}
          </small>
        )}
        <fieldset disabled={isExpired}>
          {choices ? (
            choices.map((choice) => (
              <button key={choice} type="button" class="primary" onClick={() => accept(() => choice)}>
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
            disabled={isExpired && words !== 'Cancel'}
            onClick={() =>
              reply ? onReply(reply) : accept(({ enum: choices }) => (choices ? 'kelvin' : -1))
            }
          >
            {words}
          </button>
        ))}
      </div>
    </form>
  );
}

/** The time left, like `9:41`, updated each second; `expired` afterwards. */
function useTimeLeft(until: number | undefined): string | undefined {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (until === undefined) return undefined;
  const seconds = Math.ceil((until - now) / 1000);
  if (seconds <= 0) return 'expired';
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function parseField({ type }: Field, text: string): string | number | boolean {
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}

/** The other replies; the first depends on the form. */
const REFUSALS: readonly (readonly [words: string, reply?: Reply | undefined, title?: string])[] = [
  ['Nonsense', undefined, 'An answer that breaks the form'],
  ['Decline', { action: 'decline' }],
  ['Cancel', { action: 'cancel' }],
  ['Say nothing', 'silence', 'The client goes on without an answer'],
];
