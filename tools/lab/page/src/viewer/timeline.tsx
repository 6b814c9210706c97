/** Step, play and scrub through the rounds. */
import { formatDuration } from './lanes.tsx';
import { type Beat, ZOOMS, type Zoom } from './model.ts';

interface TimelineProps {
  readonly beats: readonly Beat[];
  readonly step: number;
  readonly onStep: (beat: number) => void;
  /** Undefined while the conversation continues. */
  readonly playing: { readonly on: boolean; readonly toggle: () => void } | undefined;
  readonly zoom: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
  readonly compares: boolean;
  /** The difference between the two sides, when both have ended. */
  readonly difference: string | undefined;
}

export function Timeline(props: TimelineProps) {
  const { beats, step, onStep, playing, zoom, onZoom, compares, difference } = props;
  const last = Math.max(0, beats.length - 1);
  const here = beats[step];
  const since = timeSince(beats, step);
  const words = beats.length === 0 ? 'Nothing has happened yet' : saying(here, compares);
  const go = (sign: string, name: string, key: string, to: number) => (
    <button type="button" onClick={() => onStep(to)} aria-label={name} title={`${name} (${key})`}>
      {sign}
    </button>
  );
  return (
    <div class="timeline" role="group" aria-label="Steps">
      <div class="buttons">
        {go('«', 'First step', 'Home', 0)}
        {go('‹', 'Step back', '←', step - 1)}
        {playing && (
          <button type="button" class="play" onClick={playing.toggle} title="Play (space)">
            {playing.on ? 'Pause' : 'Play'}
          </button>
        )}
        {go('›', 'Step on', '→', step + 1)}
        {go('»', 'Last step', 'End', last)}
      </div>
      <div class="scrub">
        <input
          type="range"
          min="0"
          max={last}
          value={step}
          aria-label="Step"
          aria-valuetext={`Step ${step + 1} of ${last + 1}: ${words}`}
          onInput={(event) => onStep(Number(event.currentTarget.value))}
        />
        <div class="ticks" aria-hidden="true">
          {roundsIn(beats).map(({ beat, round }) => (
            <i key={round} style={{ left: `${last === 0 ? 0 : (100 * beat) / last}%` }}>
              {round}
            </i>
          ))}
        </div>
      </div>
      <output aria-live="polite">
        <b>
          {beats.length === 0 ? 0 : step + 1}/{beats.length}
        </b>{' '}
        {difference ?? words}
        {since !== undefined && <small> +{formatDuration(since)}</small>}
      </output>
      <div class="segments" role="group" aria-label="Zoom">
        {ZOOMS.map(([id, title, explains]) => (
          <button
            key={id}
            type="button"
            aria-pressed={zoom === id}
            title={explains}
            onClick={() => onZoom(id)}
          >
            {title}
          </button>
        ))}
      </div>
    </div>
  );
}

/** The time since the previous row, on the side of this step. */
function timeSince(beats: readonly Beat[], step: number) {
  const side = beats[step]?.left ? 'left' : 'right';
  const rows = beats.slice(0, step + 1).flatMap((beat) => beat[side] ?? []);
  const [before, now] = rows.slice(-2);
  return before && now && now.event.at - before.event.at;
}

function saying(beat: Beat | undefined, compares: boolean) {
  const { left, right } = beat ?? {};
  const text = (left ?? right)?.text ?? '';
  return !compares || (left && right) ? text : `${left ? 'left' : 'right'} only: ${text}`;
}

/** The first beat of each round. */
function roundsIn(beats: readonly Beat[]) {
  const rounds = beats.map(({ left, right }) => (left ?? right)?.round ?? 0);
  return [...new Set(rounds)].flatMap((round) => (round > 0 ? { round, beat: rounds.indexOf(round) } : []));
}
