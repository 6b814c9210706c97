/** The viewer: one conversation, or two in lockstep. It shows only transcripts. */
import { eventsOf, rowsOf } from '@mrtr/harness/transcript';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Insides, TranscriptSoFar } from '../../../src/protocol.ts';
import { SIDES, type SideName } from '../../../src/set-up.ts';
import { linesRun, placeOf, rowsThatRan, standsAt } from './code.ts';
import type { Nameable } from './effects.ts';
import { useKeys } from './keys.ts';
import { type Drawing, EventsTable, Lanes, type LanesProps } from './lanes.tsx';
import {
  type Beat,
  beatsOf,
  countsAt,
  findProof,
  isBroken,
  isSeenInside,
  lanesAt,
  type Zoom,
} from './model.ts';
import { States, Wire, WorldPanel } from './panels.tsx';
import { describe, difference, factsOf, moodOf, type Seen, shortName } from './sentence.ts';
import { Source } from './source.tsx';
import { Timeline } from './timeline.tsx';
import './viewer.css';
import './panels.css';

export interface View {
  /** Undefined for the end. */
  readonly step?: number | undefined;
  readonly zoom: Zoom;
  readonly panel: (typeof PANELS)[number][0];
}

export interface Shown {
  readonly conversation: TranscriptSoFar;
  /** Absent without the key. */
  readonly insides?: Insides;
  /** The author's file, to show before any of it ran. */
  readonly file?: string | undefined;
  /** The file of a server of the user's own, whose lines she can name as effects. */
  readonly own?: Nameable | undefined;
  /** Why no lines are shown. */
  readonly noLines?: string | undefined;
  readonly head: ComponentChildren;
  readonly laneTool?: ((instance: string) => ComponentChildren) | undefined;
  readonly stateTools?: ComponentChildren;
  /** Shown over the end of the lanes, for example an open question. */
  readonly foot?: ComponentChildren;
}

interface ViewerProps {
  /** One or two. */
  readonly sides: readonly Shown[];
  readonly view: View;
  readonly onView: (view: View) => void;
  /** Starts to play whenever this is set. */
  readonly plays?: boolean;
  /** Set if Play stops once before the moment of proof. */
  readonly pauses?: boolean;
  /** Set on a page with several viewers: keys then work only in the focused one. */
  readonly ofSeveral?: boolean;
}

export const PANELS = [
  ['source', 'Source'],
  ['wire', 'Message'],
  ['state', 'State'],
  ['world', 'World'],
] as const;

export function Viewer({
  sides,
  view,
  onView,
  plays = false,
  pauses = false,
  ofSeveral = false,
}: ViewerProps) {
  const box = useRef<HTMLDivElement>(null);
  const { zoom } = view;
  const conversations = sides.map(({ conversation }) => conversation);
  const beats = beatsOf(conversations, zoom);
  const last = Math.max(0, beats.length - 1);
  const step = Math.min(view.step ?? last, last);
  const go = (to: number) => {
    const next = Math.max(0, Math.min(to, last));
    onView({ ...view, step: next === last ? undefined : next });
  };
  const zoomTo = (next: Zoom) =>
    onView({
      zoom: next,
      panel: next === 'wire' ? 'wire' : 'source',
      step: view.step === undefined ? undefined : nearest(beats[step], beatsOf(conversations, next)),
    });
  const isOver = conversations.every(({ end }) => end !== undefined);
  const proof = pauses ? findProof(beats) : undefined;
  const playing = usePlaying([step, last], go, { plays, proof });
  const keys = {
    ArrowLeft: () => go(step - 1),
    ArrowRight: () => go(step + 1),
    Home: () => go(0),
    End: () => go(last),
    1: () => zoomTo('rounds'),
    2: () => zoomTo('wire'),
    ' ': isOver ? playing.toggle : undefined,
  };
  useKeys(keys, ofSeveral ? box : undefined);
  const panes = sides.map((side, at) => {
    const [name = 'left', { conversation }] = [SIDES[at], side];
    const drawing = { lanes: lanesAt(conversation, zoom), rows: beats.map((beat) => beat[name]) };
    return { name, side, drawing, seen: lookAt(conversation, name, beats, step) };
  });
  const [left, right] = panes;
  // Compare only when both sides have begun.
  const compares = SIDES.every((side) => beats.some((beat) => beat[side]));
  const differs = (beat: number) => compares && !(beats[beat]?.left && beats[beat]?.right);
  const drawings = panes.map(({ drawing }) => drawing);
  const shared = { drawings, step, onStep: go, differs, view, onView, isNamed: !ofSeveral };
  return (
    <div class={`viewer ${sides.length > 1 ? 'two' : 'one'}`} ref={box}>
      {/* Where the sides stand below each other, both results stand above them. */}
      {sides.length > 1 && (
        <div class="results">
          {panes.map(({ name, seen }) => (
            <Sentence key={name} seen={seen} />
          ))}
        </div>
      )}
      <Timeline
        beats={beats}
        step={step}
        onStep={go}
        playing={isOver ? playing : undefined}
        zoom={zoom}
        onZoom={zoomTo}
        compares={compares}
        difference={left && right && difference(left.seen, right.seen)}
      />
      {panes.map((pane) => (
        <Side key={pane.name} {...pane} {...shared} />
      ))}
    </div>
  );
}

/** The beat of the same event in another zoom, or else of the one before it. */
function nearest(here: Beat | undefined, beats: readonly Beat[]) {
  const side = here?.left ? 'left' : 'right';
  const at = here?.[side]?.at ?? 0;
  return Math.max(
    0,
    beats.findLastIndex((beat) => (beat[side]?.at ?? Number.POSITIVE_INFINITY) <= at),
  );
}

/** The view of a side at a step. Without a row in this step, it keeps the previous one. */
function lookAt(conversation: TranscriptSoFar, name: SideName, beats: readonly Beat[], step: number) {
  const rows = beats.slice(0, step + 1).flatMap((beat) => beat[name] ?? []);
  const isEnd = step >= beats.length - 1;
  const until = isEnd ? conversation.events.length - 1 : (rows.at(-1)?.at ?? -1);
  const events = conversation.events.slice(0, until + 1);
  const stand = standsAt(events, rows, isSeenInside(conversation));
  const isOver = isEnd && conversation.end !== undefined;
  return { name: shortName(conversation.title), conversation, rows, events, stand, isEnd: isOver };
}

interface SideProps
  extends Pick<ViewerProps, 'view' | 'onView'>,
    Pick<LanesProps, 'drawings' | 'step' | 'onStep' | 'differs'> {
  readonly name: SideName;
  readonly side: Shown;
  readonly drawing: Drawing;
  readonly seen: Seen;
  /** Whether it is a landmark of the page. */
  readonly isNamed: boolean;
}

function Side({ name, side, drawing: own, seen, view, onView, isNamed, ...shared }: SideProps) {
  const id = useId();
  const [picked, setPicked] = useState<number | undefined>(undefined);
  const { conversation, insides } = side;
  const { events } = conversation;
  const { events: soFar, stand } = seen;
  const ran = linesRun(soFar);
  const [traced] = [...ran.now, ...eventsOf('lines', events).map(({ files }) => files)].flatMap(Object.keys);
  const file = stand?.file ?? traced ?? side.file;
  const lit = file && picked ? rowsThatRan(seen.rows, soFar, [file, picked]) : new Set<number>();
  const isOffered = (panel: View['panel']) => panel !== 'source' || file !== undefined || side.noLines;
  const panels: Readonly<Record<View['panel'], () => ComponentChildren>> = {
    source: () => (
      <>
        {side.noLines && <p class="nothing">{side.noLines}</p>}
        {file !== undefined && (
          <Source
            file={file}
            own={side.own}
            ran={ran}
            stand={stand}
            picked={picked}
            broken={brokenLines(seen, file)}
            onPick={(line) => setPicked(line === picked ? undefined : line)}
          />
        )}
      </>
    ),
    wire: () => <Wire events={events.slice(0, (seen.rows.at(-1)?.at ?? -1) + 1)} />,
    state: () => (
      <States events={soFar} insides={insides}>
        {side.stateTools}
      </States>
    ),
    world: () => (
      <WorldPanel
        rows={view.zoom === 'wire' ? rowsOf({ ...conversation, events: soFar }) : seen.rows}
        end={seen.isEnd ? conversation.end : undefined}
        isSeen={isSeenInside(conversation)}
      />
    ),
  };
  const panel = isOffered(view.panel) ? view.panel : 'wire';
  const drawing = { conversation, ...shared, ...own, lit };
  return (
    <section
      class={`side ${name}`}
      aria-label={isNamed ? `${name === 'left' ? 'Left' : 'Right'}: ${conversation.title}` : undefined}
    >
      {side.head && <header>{side.head}</header>}
      <ul class="counts" aria-label="Counts at this step">
        {countsAt(conversation, soFar)
          // Zeros are left out.
          .filter(([number]) => !/^(?:0|–)/.test(number))
          .map(([number, what, bad]) => (
            <li key={what} class={bad ? 'bad' : ''}>
              <b>{number}</b> {what}
            </li>
          ))}
      </ul>
      <Sentence seen={seen} />
      <div class="stage">
        <Lanes {...drawing} tool={side.laneTool} />
        {side.foot}
      </div>
      <EventsTable {...drawing} />
      <div class="below">
        <div class="tabs" role="tablist" aria-label="Below the lanes">
          {PANELS.filter(([one]) => isOffered(one)).map(([one, title]) => (
            <button
              key={one}
              type="button"
              role="tab"
              id={`${id}-${one}-tab`}
              aria-selected={panel === one}
              aria-controls={`${id}-panel`}
              onClick={() => onView({ ...view, panel: one })}
            >
              {title}
            </button>
          ))}
          {panel === 'source' && file && <span class="file">{file.replace('demos/', '')}</span>}
        </div>
        <div
          class="panel"
          role="tabpanel"
          id={`${id}-panel`}
          // Each of a page has a name of its own.
          aria-label={`${panel}${isNamed ? ` on the ${name}` : ''}`}
          tabIndex={0}
        >
          {panels[panel]()}
        </div>
      </div>
    </section>
  );
}

function Sentence({ seen }: { readonly seen: Seen }) {
  const facts = factsOf(seen);
  return <p class={`sentence ${moodOf(facts)}`}>{describe(facts)}</p>;
}

/** The lines of the effects that broke a promise. */
const brokenLines = ({ rows, events }: Seen, file: string) =>
  rows.filter(isBroken).flatMap((row) => {
    const [of, line = 0] = placeOf(row, events) ?? [];
    return of === file ? [line] : [];
  });

const BEAT_MS = 650;

/** Plays when `plays` changes, and pauses before the step `proof`. */
function usePlaying(
  [step, last]: readonly [number, number],
  go: (to: number) => void,
  { plays, proof }: { readonly plays: boolean; readonly proof: number | undefined },
) {
  const [on, setOn] = useState(false);
  useEffect(() => {
    if (!plays) return;
    // Without motion, jump to the last step.
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return go(last);
    if (step >= last) go(0);
    setOn(true);
  }, [plays]);
  useEffect(() => {
    if (!on) return;
    if (step >= last) {
      setOn(false);
      return;
    }
    const timer = setTimeout(() => {
      go(step + 1);
      if (proof !== undefined && step + 1 === proof - 1) setOn(false);
    }, BEAT_MS);
    return () => clearTimeout(timer);
  });
  const toggle = () => {
    if (!on && step >= last) go(0);
    setOn(!on);
  };
  return { on, toggle };
}
