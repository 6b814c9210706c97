/** The panels below the lanes: the message of this step, the states, and the world. */
import {
  asText,
  eventsOf,
  objectIn,
  type Row,
  resultText,
  rowsOf,
  type TranscriptEvent,
} from '@mrtr/harness/transcript';
import type { ComponentChildren } from 'preact';
import type { Conversation, Inside, Insides } from '../../../src/protocol.ts';
import { Columns } from './columns.tsx';

export function Wire({ events, at }: { readonly events: readonly TranscriptEvent[]; readonly at: number }) {
  const message = eventsOf('message', events.slice(0, at + 1)).at(-1);
  if (!message) return <p class="nothing">No message yet.</p>;
  return (
    <pre class="json" tabIndex={0} role="region" aria-label="The message of this step">
      {JSON.stringify(message.message, null, 2)}
    </pre>
  );
}

/** Every state sent up to this step: its size, and with the lab's key its content. */
export function States({
  events,
  at,
  insides,
  children,
}: {
  readonly events: readonly TranscriptEvent[];
  readonly at: number;
  readonly insides: Insides | undefined;
  readonly children?: ComponentChildren;
}) {
  const states = statesByRound(events.slice(0, at + 1));
  const longest = Math.max(1, ...states.map(([state]) => state.length));
  const known = rowsOf({ events: events.slice(0, at + 1), participants: [] });
  const refusals = known.flatMap(({ event, tone }) =>
    event.kind === 'state' && tone === 'refused' ? [event] : [],
  );
  const answers = known.flatMap(({ event, tone, text }) =>
    event.kind === 'message' && tone === 'refused' ? [text] : [],
  );
  return (
    <div class="states" tabIndex={0} role="region" aria-label="States">
      {states.length === 0 && <p class="nothing">No state has gone out yet.</p>}
      {states.map(([state, round]) => (
        <section key={state}>
          <h4>
            State of round {round} <small>{state.length} B</small>
            <span class="size" style={{ '--share': `${(100 * state.length) / longest}%` }} />
          </h4>
          <code class="state" tabIndex={0} role="group" aria-label={`State of round ${round}, whole`}>
            {state}
          </code>
          {insides && <Claims inside={insides[state]} />}
        </section>
      ))}
      {refusals.map(({ reason, instance }, place) => (
        <p class="shield" key={place}>
          ⊘ The client sees: <b>{answers[place]?.replace('⊘ ', '') ?? 'nothing yet'}</b>. The operator of{' '}
          {instance} sees: <b>{reason}</b> (<code>mrtr:state</code>).
        </p>
      ))}
      {children}
    </div>
  );
}

function Claims({ inside }: { readonly inside: Inside | undefined }) {
  if (!inside) return <p class="quiet">Without the lab's key nobody can look inside.</p>;
  if (!inside.sealed) return <p class="quiet">Not sealed: this is all of it, and anybody can write it.</p>;
  const claims: [string, string][] = [
    ['round', `${inside.round}`],
    ['call', `${inside.call}`],
    ['expires', new Date(inside.expiresAt ?? 0).toISOString().slice(11, 19)],
    [
      'asked',
      (inside.asked ?? []).map(([key, digest]) => `${key} (${digest.slice(0, 8)}…)`).join(', ') || '–',
    ],
    ['kept by the shape', inside.payload ?? 'nothing'],
  ];
  return (
    <>
      <p class="quiet">Sealed. The client has only the text above; with the lab’s key one reads:</p>
      <dl class="claims">
        {claims.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function statesByRound(events: readonly TranscriptEvent[]): readonly (readonly [string, number])[] {
  const found = new Map<string, number>();
  for (const { event, round } of rowsOf({ events, participants: [] })) {
    const { requestState } = event.kind === 'message' ? objectIn(event.message, 'result') : {};
    if (typeof requestState === 'string' && !found.has(requestState)) found.set(requestState, round);
  }
  return [...found];
}

interface WorldProps {
  readonly rows: readonly Row[];
  readonly end: Conversation['end'];
  /** Whether the transcript has every change; from outside it has only those that were looked for. */
  readonly isSeen: boolean;
}

export function World({ rows, end, isSeen }: WorldProps) {
  const effects = rows.filter(({ event }) => event.kind === 'effect');
  const isRefused = rows.findLast(({ event }) => event.kind === 'message')?.tone === 'refused';
  return (
    <div class="world" tabIndex={0} role="region" aria-label="The world's ledger">
      {effects.length === 0 ? (
        <p class="nothing">{isSeen ? 'Nothing was written.' : 'No change was seen.'}</p>
      ) : (
        <table>
          <Columns titles={['Round', 'By', 'Entry']} />
          <tbody>
            {effects.map((row) => (
              <tr key={row.at} class={row.tone === 'error' ? 'bad' : ''}>
                <td>{row.round}</td>
                <td>{row.from}</td>
                <td>{row.text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {end && (
        <p class={isRefused ? 'shield' : end.error || end.result.isError ? 'refusal' : 'quiet'}>
          The call ended:{' '}
          {end.error ? `error ${end.error.code ?? ''} ${asText(end.error.message)}` : resultText(end.result)}
        </p>
      )}
    </div>
  );
}
