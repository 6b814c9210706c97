/** The entry page: the measured table. Every cell opens the transcripts that prove it. */
import { useEffect, useState } from 'preact/hooks';
import type { Measured, Recordings } from '../../src/protocol.ts';
import './matrix.css';
import { loadIndex } from './recorded.ts';
import { hashOf, PLAIN_VIEW } from './route.ts';
import { Columns } from './viewer/columns.tsx';

export function useIndex(): { readonly index?: Recordings; readonly waiting: boolean } {
  const [index, setIndex] = useState<Recordings>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    loadIndex().then(setIndex, () => {
      // The live lab records in the background when it starts.
      timer = setTimeout(() => setTries(tries + 1), 700);
    });
    return () => clearTimeout(timer);
  }, [tries]);
  return { ...(index && { index }), waiting: !index };
}

/** What the cells of a column show side by side with another option's. */
const RIVALS: Readonly<Record<string, string>> = { b: 'h', h: 'j' };

export function Matrix({ live }: { readonly live: boolean }) {
  const { index, waiting } = useIndex();
  return (
    <main class="text">
      <h2>One tool, thirteen handler shapes, measured</h2>
      <p class="lead">
        A tool asks its user something half-way. Revision 2026-07-28 of MCP calls it again with the answer, so
        a handler may run twice for one call. Every number below was counted in a real conversation between a
        real client and a real server. Open a cell to watch that conversation, step by step, beside another
        shape.
      </p>
      {waiting && (
        <p class="badge" role="status">
          {live ? 'Recording every option in every situation; this takes some seconds …' : 'Loading …'}
        </p>
      )}
      {index && <Table index={index} />}
    </main>
  );
}

function Table({ index }: { readonly index: Recordings }) {
  return (
    <>
      <div class="matrix-box" tabIndex={0} role="region" aria-label="Measured table">
        <table class="matrix">
          <Columns titles={['Shape', ...index.columns]} />
          <tbody>
            {index.rows.map(({ option, name, title, cells }) => (
              <tr key={option}>
                <th scope="row">
                  <b>{name}</b> <span>{title}</span>
                </th>
                {cells.map((cell, at) => (
                  <td key={at}>
                    <Cell
                      cell={cell}
                      option={option}
                      label={`${name}, ${index.columns[at]}`}
                      about={index.about}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {Object.entries(index.missing).map(([option, why]) => (
        <p class="quiet" key={option}>
          Not recorded: {option}. {why}
        </p>
      ))}
    </>
  );
}

interface CellProps {
  readonly cell: Measured;
  readonly option: string;
  readonly label: string;
  readonly about: Recordings['about'];
}

/** A cell with two proofs shows them side by side; one with a single proof, beside the same call in another shape. */
function Cell({ cell, option, label, about }: CellProps) {
  const [proof, second] = cell.proofs.filter((id) => id in about);
  if (proof === undefined)
    return <span title="There is no recording of this">{cell.text} (not recorded)</span>;
  const situation = proof.split('.')[1];
  const rival = `${RIVALS[option] ?? 'h'}.${situation}`;
  const right = second ?? (rival === proof || !(rival in about) ? undefined : rival);
  const link = hashOf({ page: 'compare', left: proof, right, view: PLAIN_VIEW });
  return (
    <a
      href={link}
      class={cell.bad ? 'bad' : ''}
      aria-label={`${label}: ${cell.text}${cell.bad ? ' (beware)' : ''}`}
    >
      {cell.text}
    </a>
  );
}
