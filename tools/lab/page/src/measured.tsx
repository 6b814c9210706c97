/** The measured table: its columns are questions, and every cell opens the transcripts that prove its answer. */
import { useState } from 'preact/hooks';
import type { MeasuredCell, Recordings } from '../../src/protocol.ts';
import './measured.css';
import type { Live } from './live/connection.ts';
import { useRecorded } from './recorded.ts';
import { hashOf, PLAIN_VIEW } from './route.ts';
import { SHAPES } from './shapes.ts';
import { Columns } from './viewer/columns.tsx';

/** The other option that a column's cells are compared with. */
const RIVALS: Readonly<Record<string, string>> = { b: 'h', h: 'j' };

export function MeasuredPage({ live }: { readonly live: Live }) {
  const { values: [index] = [] } = useRecorded<Recordings>(['index']);
  const [counts, setCounts] = useState(false);
  const [differs, setDiffers] = useState(false);
  return (
    <main class="text">
      <h2>A tool that asks, measured in every shape</h2>
      <p class="lead">
        Each row is a way to write a tool that asks its user a question. Each answer was measured in a real
        call between a real client and a real server. Open an answer to watch that call, step by step, beside
        another shape. Red answers are traps.
      </p>
      {!index && (
        <p class="badge" role="status">
          {live.kind !== 'none'
            ? 'Recording every option in every situation; this takes some seconds …'
            : 'Loading …'}
        </p>
      )}
      {index && (
        <>
          <label class="quiet">
            <input type="checkbox" checked={differs} onChange={() => setDiffers(!differs)} /> Only where they
            differ
          </label>{' '}
          <label class="quiet">
            <input type="checkbox" checked={counts} onChange={() => setCounts(!counts)} /> Show the counts
          </label>
          <Table index={index} counts={counts} differs={differs} />
          {counts && (
            <p class="quiet">
              Two counts with a slash are a tool that asks once and one that asks twice. In brackets: with
              single use off. G and I run a step or a resolver for each question, too; their count is of the
              part that writes.
            </p>
          )}
        </>
      )}
    </main>
  );
}

/** The answer that most shapes give. */
function mostCommon(answers: readonly string[]) {
  const timesOf = (answer: string) => answers.filter((one) => one === answer).length;
  return answers.toSorted((one, other) => timesOf(other) - timesOf(one))[0];
}

interface TableProps {
  readonly index: Recordings;
  readonly counts: boolean;
  /** Whether an answer that most shapes give stands in the head alone. */
  readonly differs: boolean;
}

function Table({ index, counts, differs }: TableProps) {
  const { columns, rows, about, missing } = index;
  const most = columns.map((_, at) =>
    differs ? mostCommon(rows.flatMap(({ cells }) => cells[at]?.answer ?? [])) : undefined,
  );
  /** A link that shows two proofs side by side, or one proof beside the same call in another shape. */
  const linkOf = ({ answer, text, bad, proofs }: MeasuredCell, option: string, label: string) => {
    const [proof, second] = proofs.filter((id) => id in about);
    if (proof === undefined) return <span class="quiet">{answer} (not recorded)</span>;
    const rival = `${RIVALS[option] ?? 'h'}.${proof.split('.')[1]}`;
    const beside = second ?? (rival === proof || !(rival in about) ? [] : rival);
    // Opens at the first step; Play stops once before the moment of proof.
    const link = hashOf({
      page: 'compare',
      parts: [proof, beside].flat(),
      view: { ...PLAIN_VIEW, step: 0 },
    });
    return (
      <a
        href={link}
        class={bad ? 'bad' : ''}
        aria-label={`${label} ${answer}${counts ? ` (${text})` : ''}${bad ? ' (beware)' : ''}`}
      >
        {answer}
        {counts && <small>{text}</small>}
      </a>
    );
  };
  const titles = columns.map((question, at) => (differs ? `${question} Most: ${most[at]}.` : question));
  return (
    <div class="measured-frame">
      <p class="scrolls">This table is wider than your screen: scroll it sideways for the other questions.</p>
      <div class="measured-box" tabIndex={0} role="region" aria-label="Measured table">
        <table class="measured">
          <Columns titles={['Shape', ...titles]} />
          <tbody>
            {rows.map(({ option, name, title, cells }) => (
              <tr key={option}>
                <th scope="row">
                  <b>{name}</b> <span>{title}</span>
                  <small>{SHAPES[option]}</small>
                </th>
                {cells.map((cell, at) => (
                  <td key={at}>
                    {cell.answer !== most[at] && linkOf(cell, option, `${name}, ${columns[at]}`)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {Object.entries(missing).map(([option, why]) => (
        <p class="quiet" key={option}>
          Not recorded: {option}. {why}
        </p>
      ))}
    </div>
  );
}
