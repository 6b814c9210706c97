/** Draws the lanes of one conversation, with an arrow for each message and a note for each internal event. */
import { type Participant, PERSON, type Row, spansOf } from '@mrtr/harness/transcript';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TranscriptSoFar } from '../../../src/protocol.ts';
import { Columns } from './columns.tsx';

const ROW = 26;
/** The height of each further line of a text. */
const LINE = 14;
const MAX_LINES = 4;
const CHARACTER = 7.25;

/** The lanes of a side, and its rows. */
export interface Drawing {
  readonly lanes: readonly Participant[];
  /** One row for each beat; undefined if only the other side has one. */
  readonly rows: readonly (Row | undefined)[];
}

export interface LanesProps extends Drawing {
  readonly conversation: TranscriptSoFar;
  /** All sides: a beat is as high as its longest text on any of them. */
  readonly drawings: readonly Drawing[];
  readonly differs: (beat: number) => boolean;
  readonly step: number;
  readonly onStep: (beat: number) => void;
  /** The places of the rows that the picked line ran in. */
  readonly lit: ReadonlySet<number>;
  /** Shown under the head of an instance's lane. */
  readonly tool?: ((instance: string) => ComponentChildren) | undefined;
}

export function Lanes(props: LanesProps) {
  const { lanes, rows, drawings, differs, lit, step, onStep, tool, conversation } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const x = placesOf(lanes, width);
  const tops = topsOf(drawings, rows.length, width);
  const top = (beat: number) => tops[beat] ?? 0;
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const [above, below] = [top(step), top(step + 1) + ROW];
    if (above < current.scrollTop) current.scrollTop = above;
    else if (below > current.scrollTop + current.clientHeight - 44)
      current.scrollTop = below - current.clientHeight + 44;
  }, [step, top(rows.length)]);
  const geometry: Geometry = { x, width, y: (beat) => top(beat + 1) - ROW / 2, rows, step };
  return (
    <div
      class="lanes"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={`Conversation: ${conversation.title}`}
      style={{ '--height': `${top(rows.length)}px` }}
    >
      <div class={`heads ${tool ? 'with-tools' : ''}`} aria-hidden={tool ? undefined : true}>
        {lanes.map((lane) => (
          <div class="head" key={lane.id} style={{ left: `${within(x(lane.id), nameOf(lane), width)}px` }}>
            <span>{nameOf(lane)}</span>
            {lane.kind === 'instance' && tool?.(lane.id)}
          </div>
        ))}
      </div>
      <svg
        width={width}
        style={{ minHeight: `${top(rows.length) + 12}px` }}
        aria-hidden="true"
        class="drawing"
      >
        {rows.map((row, beat) => (
          <rect
            class={`band ${beat === step ? 'here' : ''} ${row && lit.has(row.at) ? 'lit' : ''} ${differs(beat) ? (row ? 'differs' : 'absent') : ''}`}
            x="0"
            y={top(beat)}
            width={width}
            height={top(beat + 1) - top(beat)}
            onClick={() => onStep(beat)}
          />
        ))}
        {lanes.map((lane) => (
          <Lifeline key={lane.id} lane={lane} geometry={geometry} />
        ))}
        {rows.map((row, beat) => row && <Drawn key={row.at} row={row} beat={beat} geometry={geometry} />)}
      </svg>
    </div>
  );
}

const nameOf = ({ kind, label }: Participant) => (kind === 'client' ? 'client' : label);

/** The middle of a name above `x`, moved so that it fits. */
function within(x: number, name: string, width: number) {
  const half = (name.length * CHARACTER) / 2 + 6;
  return Math.max(half, Math.min(x, width - half));
}

interface Geometry {
  readonly x: (id: string) => number;
  readonly y: (beat: number) => number;
  readonly width: number;
  readonly rows: readonly (Row | undefined)[];
  readonly step: number;
}

/** The share of the width behind a lane of this kind. The client has room to its right, for the messages. */
const ROOM: Partial<Record<Participant['kind'], number>> = { person: 1.1, client: 2.3 };

/** The position of each lane. */
function placesOf(lanes: readonly Participant[], width: number): Geometry['x'] {
  let sum = 0;
  const shares = lanes.map(({ id, kind }, at) => {
    const before = lanes[at - 1];
    if (before) sum += ROOM[before.kind] ?? (kind === 'instance' ? 1 : 1.5);
    return [id, sum] as const;
  });
  const [first, last] = [34, Math.max(width - 42, 200)];
  const xs = new Map(shares.map(([id, at]) => [id, Math.round(first + ((last - first) * at) / (sum || 1))]));
  const server = lanes.find(({ kind }) => kind === 'instance')?.id ?? '';
  return (id) => xs.get(id) ?? xs.get(server) ?? 0;
}

/** The upper edge of each beat, and the lower edge of the last. */
function topsOf(drawings: readonly Drawing[], beats: number, width: number) {
  const places = drawings.map(({ lanes }) => placesOf(lanes, width));
  const tops = [2];
  for (let beat = 0; beat < beats; beat++) {
    const lines = drawings.map(({ rows }, side) => {
      const [row, x] = [rows[beat], places[side]];
      return row && x ? labelOf(row, x, width).lines.length : 1;
    });
    tops.push((tops[beat] ?? 0) + ROW + (Math.max(...lines) - 1) * LINE);
  }
  return tops;
}

/** The text of a row, in lines: from the beginning of its arrow, or beside its mark. */
function labelOf({ from, to, text, tone }: Row, x: Geometry['x'], width: number) {
  const [start, end] = [x(from), x(to)];
  const isLeft = start === end && width - start < 150;
  const left = Math.min(start, end) + (start !== end && tone === 'refused' ? 28 : 12);
  // A drawn shield replaces the sign.
  const lines = wrap(text.replace(/^⊘ /, ''), isLeft ? start - 16 : width - left - 4);
  return { start, end, isLeft, left: isLeft ? start - 12 : left, lines };
}

/** A text in lines that fit. Only a text of more than four is cut: the panel “Message” has all of it. */
function wrap(text: string, room: number) {
  const most = Math.max(6, Math.floor(room / CHARACTER));
  const line = text.slice(0, 2000).replace(/\s+/g, ' ');
  const lines = line.match(new RegExp(`.{1,${most}}(?: |$)|.{1,${most}}`, 'gu')) ?? [''];
  return lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES - 1), '…'] : lines;
}

/** A lane: dashed while its person thinks and while its instance is dead; a bar while it works or holds a frame. */
function Lifeline({ lane, geometry }: { lane: Participant; geometry: Geometry }) {
  const { rows, x, y, step } = geometry;
  const at = x(lane.id);
  // At the last step, what lasts goes on to the lower edge.
  const end = step >= rows.length - 1 ? '100%' : y(step) + ROW / 2;
  return (
    <g class={`lifeline ${lane.kind}`}>
      <line x1={at} x2={at} y1="0" y2="100%" />
      {spansOf(lane, rows.slice(0, step + 1)).map(
        ({ kind, from, to = kind === 'works' ? step : undefined }) => {
          const [top, bottom] = [y(from), to === undefined ? end : y(to)];
          if (kind !== 'works' && kind !== 'parked')
            return <line class={kind} x1={at} x2={at} y1={top} y2={bottom} />;
          const height = typeof bottom === 'number' ? Math.max(bottom - top, 6) : bottom;
          return <rect class={kind} x={at - 4} y={top} width="8" height={height} rx="3" />;
        },
      )}
    </g>
  );
}

function Drawn({ row, beat, geometry }: { row: Row; beat: number; geometry: Geometry }) {
  const { x, y, width, step } = geometry;
  const { event, tone } = row;
  const kind = tone === 'refused' ? 'refused' : kindOf(event);
  const classes = `row ${kind} ${tone === 'error' ? 'bad' : ''} ${beat > step ? 'later' : ''}`;
  const { start, end, isLeft, left, lines } = labelOf(row, x, width);
  const top = y(beat);
  const first = top - (lines.length - 1) * LINE;
  const text = (
    <text text-anchor={isLeft ? 'end' : 'start'}>
      {lines.map((line, at) => (
        <tspan key={at} x={left} y={first + 3 + at * LINE}>
          {line}
        </tspan>
      ))}
    </text>
  );
  if (start === end)
    return (
      <g class={classes}>
        <Mark kind={kind} x={start} y={first} />
        {text}
      </g>
    );
  const lost = event.kind === 'message' && event.lost;
  const direction = end > start ? 1 : -1;
  const tip = lost ? start + (end - start) * 0.6 : end - direction * (event.kind === 'message' ? 5 : 2);
  return (
    <g class={`${classes} ${lost ? 'lost' : ''}`}>
      <line x1={start} x2={tip} y1={top + 8} y2={top + 8} />
      {lost ? (
        <path d={`M${tip - 4} ${top + 4}l8 8m0 -8l-8 8`} />
      ) : (
        <path class="tip" d={`M${tip} ${top + 8}l${-6 * direction} -3.5v7z`} />
      )}
      {tone === 'refused' && <Mark kind={kind} x={left - 11} y={first - 2} />}
      {text}
    </g>
  );
}

function kindOf(event: Row['event']) {
  if (event.kind === 'restart' && event.deployed !== undefined) return 'deploy';
  return event.kind === 'message' && event.message.method === undefined ? 'answer-message' : event.kind;
}

/** The marks of events inside a lane, around their middle. Others are a circle. */
const MARKS: Readonly<Record<string, string>> = {
  entry: 'M-3 -6h6q3 0 3 3v6q0 3 -3 3h-6q-3 0 -3 -3v-6q0 -3 3 -3z',
  refused: 'M0 -7l6 2v5q0 5 -6 8q-6 -3 -6 -8v-5z',
  kill: 'M-6 -6l12 12m0 -12l-12 12',
  deploy: 'M0 -7l7 7l-7 7l-7 -7z',
};
const CIRCLE = 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z';

const Mark = ({ kind, x, y }: { kind: string; x: number; y: number }) => (
  <path class="mark" transform={`translate(${x} ${y})`} d={MARKS[kind] ?? CIRCLE} />
);

function useWidth(box: { readonly current: HTMLDivElement | null }) {
  const [width, setWidth] = useState(680);
  useEffect(() => {
    if (!box.current) return;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 680)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, [box]);
  return width;
}

/** Milliseconds in a few characters: `4 ms`, `1.2 s`, `3 min`. */
export function formatDuration(ms: number) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

/** The same as a table, for people who do not see the drawing. */
export function EventsTable({ lanes, rows, differs, lit, step }: Omit<LanesProps, 'tool'>) {
  const label = (id: string) => {
    const lane = lanes.find((one) => one.id === id);
    return lane ? nameOf(lane) : id === PERSON ? 'user' : id;
  };
  return (
    <table class="unseen">
      <caption>Every event, in order</caption>
      <Columns titles={['Step', 'After', 'From', 'To', 'What', 'Only on this side', 'Ran the picked line']} />
      <tbody>
        {rows.map(
          (row, beat) =>
            row && (
              <tr key={row.at} aria-current={beat === step ? 'step' : undefined}>
                {[
                  beat + 1,
                  formatDuration(row.event.at),
                  label(row.from),
                  label(row.to),
                  row.text,
                  differs(beat) ? 'yes' : '',
                  lit.has(row.at) ? 'yes' : '',
                ].map((cell, at) => (
                  <td key={at}>{cell}</td>
                ))}
              </tr>
            ),
        )}
      </tbody>
    </table>
  );
}
