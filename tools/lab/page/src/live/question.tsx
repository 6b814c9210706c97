/** An open question to the person at the page, with its form. */
import type { Reply } from '@mrtr/harness';
import { asText } from '@mrtr/harness/transcript';
import { choicesOf } from '@mrtr/harness/transcript/choices';
import { useEffect, useState } from 'preact/hooks';
import type { Asked } from '../../../src/protocol.ts';
import type { SideName } from '../../../src/set-up.ts';
import { exampleOf, type Field, Form, fieldsOf } from './form.tsx';

interface QuestionProps {
  readonly side: SideName;
  readonly asked: Asked;
  /** The time when the answer's state expires; undefined without state. */
  readonly until: number | undefined;
  readonly onReply: (reply: Reply, isAgent?: boolean) => void;
}

export function QuestionForm({ side, asked, until, onReply }: QuestionProps) {
  const left = useTimeLeft(until);
  const isExpired = left === 'expired';
  const fields = fieldsOf(asked.schema);
  const [[, only = {}] = [], another] = fields;
  const choices = another ? [] : choicesOf(only);
  const accept = (fill: (field: Field) => unknown, isAgent?: boolean) => {
    const content = Object.fromEntries(fields.map(([name, field]) => [name, fill(field)]));
    onReply({ action: 'accept', content: content as never }, isAgent);
  };
  const others = (
    <>
      {REFUSALS.map(([words, reply, title]) => (
        <button
          key={words}
          type="button"
          title={title}
          disabled={isExpired && words !== 'Cancel'}
          onClick={() =>
            reply ? onReply(reply) : accept((field) => (choicesOf(field).length > 0 ? 'kelvin' : -1))
          }
        >
          {words}
        </button>
      ))}
      <button
        type="button"
        disabled={isExpired}
        title="A program accepts in your place, with values that fit: no person has agreed."
        onClick={() => accept(exampleOf, true)}
      >
        Let an agent say yes
      </button>
    </>
  );
  const head = (
    <div class="line">
      <b class="question" role="status">
        ☺ {asked.message}
      </b>
      {left && (
        <small class={isExpired ? 'refusal' : 'quiet'}>
          {isExpired ? 'This question has expired: cancel it, and call again.' : `expires in ${left}`}
        </small>
      )}
    </div>
  );
  const buttons = choices.map(({ value, title }, at) => (
    <button key={at} type="button" class="primary" onClick={() => accept(() => value)}>
      {asText(title)}
    </button>
  ));
  return (
    <Form
      label={`The tool asks you on the ${side}`}
      // A single choice is made by its button.
      schema={buttons.length > 0 ? {} : asked.schema}
      head={head}
      submit={buttons.length > 0 ? buttons : 'Answer'}
      disabled={isExpired}
      onSubmit={(content) => onReply({ action: 'accept', content: content as never })}
    >
      {others}
    </Form>
  );
}

/** The time left, like `9:41`, updated each second; `expired` afterwards. */
function useTimeLeft(until: number | undefined) {
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

/** The other replies; the first depends on the form. */
const REFUSALS: readonly (readonly [words: string, reply?: Reply | undefined, title?: string])[] = [
  ['Nonsense', undefined, 'An answer that breaks the form'],
  ['Decline', { action: 'decline' }],
  ['Cancel', { action: 'cancel' }],
  ['Say nothing', 'silence', 'The client goes on without an answer'],
];
