/** The panels below the lanes: the message of this step, the states, and the world. */
import {
  asText,
  eventsOf,
  type Row,
  resultText,
  rowsOf,
  type TranscriptEvent,
} from '@mrtr/harness/transcript';
import type { ComponentChildren } from 'preact';
import type { Inside, Insides, TranscriptSoFar } from '../../../src/protocol.ts';
import { readPlain, statesIn } from '../../../src/states.ts';
import { Columns } from './columns.tsx';
import { isBroken, latestTone } from './model.ts';
import { reasonText } from './sentence.ts';

type Events = readonly TranscriptEvent[];

/** The latest message. */
export function Wire({ events }: { readonly events: Events }) {
  const latest = eventsOf('message', events).at(-1);
  if (!latest) return <p class="nothing">No message yet.</p>;
  return <pre class="json">{JSON.stringify(latest.message, null, 2)}</pre>;
}

interface StatesProps {
  readonly events: Events;
  readonly insides: Insides | undefined;
  readonly children?: ComponentChildren;
}

/** Every state that was sent: its size, and with the lab's key its content. */
export function States({ events, insides, children }: StatesProps) {
  const rows = rowsOf({ events, participants: [] });
  const refused = rows.filter(({ tone }) => tone === 'refused');
  const answers = refused.flatMap(({ event, text }) => (event.kind === 'message' ? [text] : []));
  const states = statesByRound(rows);
  const longest = Math.max(1, ...states.map(([state]) => state.length));
  return (
    <div class="states">
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
          {insides && <Claims state={state} inside={insides[state]} />}
        </section>
      ))}
      {eventsOf(
        'state',
        refused.map(({ event }) => event),
      ).map(({ reason, instance }, at) => (
        <p class="shield" key={at}>
          ⊘ The client sees: <b>{answers[at]?.replace('⊘ ', '') ?? 'nothing yet'}</b>. The operator of{' '}
          {instance} sees: <b>{reason}</b>, {reasonText(reason)} (<code>mrtr:state</code>).
        </p>
      ))}
      {children}
    </div>
  );
}

function Claims({ state, inside }: { readonly state: string; readonly inside: Inside | undefined }) {
  const plain = readPlain(state);
  if (!inside)
    return (
      <p class="quiet">
        {plain === undefined ? 'The lab has no key for it.' : `Anybody can read this state: ${plain}`}
      </p>
    );
  if (!inside.sealed) return <p class="quiet">Not sealed: this is all of it, and anybody can write it.</p>;
  const { round, call, expiresAt, asked, payload = 'nothing' } = inside;
  const questions = asked.map(([key, digest]) => `${key} (${digest.slice(0, 8)}…)`).join(', ');
  const claims = {
    round,
    call,
    expires: new Date(expiresAt).toISOString().slice(11, 19),
    asked: questions || '–',
    'kept by the shape': payload,
  };
  return (
    <>
      <p class="quiet">Sealed. The client has only the text above; with the lab’s key one reads:</p>
      <dl class="claims">
        {Object.entries(claims).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function statesByRound(rows: readonly Row[]) {
  const found = new Map<string, number>();
  for (const { event, round } of rows)
    for (const state of statesIn([event])) if (!found.has(state)) found.set(state, round);
  return [...found];
}

interface WorldProps {
  readonly rows: readonly Row[];
  readonly end: TranscriptSoFar['end'];
  /** Whether the transcript has every change; from outside it has only those that were looked for. */
  readonly isSeen: boolean;
}

export function WorldPanel({ rows, end, isSeen }: WorldProps) {
  const effects = rows.filter(({ event }) => event.kind === 'effect');
  return (
    <div class="world">
      {effects.length === 0 ? (
        <p class="nothing">
          {isSeen
            ? 'Nothing was written.'
            : 'No change was seen. From outside, only what somebody looks for is seen.'}
        </p>
      ) : (
        <table>
          <Columns titles={['Round', 'By', 'Entry']} />
          <tbody>
            {effects.map((row) => (
              <tr key={row.at} class={isBroken(row) ? 'bad' : ''}>
                <td>{row.round}</td>
                <td>{row.from}</td>
                <td>{row.text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {end && (
        <p
          class={
            latestTone(rows) === 'refused' ? 'shield' : end.error || end.result.isError ? 'refusal' : 'quiet'
          }
        >
          The call ended:{' '}
          {end.error ? `error ${end.error.code ?? ''} ${asText(end.error.message)}` : resultText(end.result)}
        </p>
      )}
    </div>
  );
}
