/** The viewer: one conversation, or two in lockstep. It shows only transcripts. */
import { eventsOf, rowsOf } from '@mrtr/harness/transcript';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Conversation, Insides } from '../../../src/protocol.ts';
import { placeOf, ranAt, rowsThatRan, standsAt } from './code.ts';
import { Counts } from './counts.tsx';
import { useKeys } from './keys.ts';
import { EventsTable, Lanes } from './lanes.tsx';
import { align, type Beat, findProof, lanesAt, rowsAt, type Zoom } from './model.ts';
import { States, Wire, World } from './panels.tsx';
import { describe, difference, type Seen, shortName } from './sentence.ts';
import { filesIn, Source } from './source.tsx';
import { Timeline } from './timeline.tsx';
import './viewer.css';
import './panels.css';

type Panel = 'source' | 'wire' | 'state' | 'world';

export interface View {
  /** Undefined for the end. */
  readonly step?: number | undefined;
  readonly zoom: Zoom;
  readonly panel: Panel;
}

export interface Shown {
  readonly conversation: Conversation;
  /** Absent without the key. */
  readonly insides?: Insides;
  /** The author's file, to show before any of it ran. */
  readonly file?: string | undefined;
  readonly head: ComponentChildren;
  readonly laneTool?: ((instance: string) => ComponentChildren) | undefined;
  readonly stateTools?: ComponentChildren;
  /** Shown over the end of the lanes, for example an open question. */
  readonly foot?: ComponentChildren;
}

interface ViewerProps {
  readonly sides: readonly [Shown] | readonly [Shown, Shown];
  readonly view: View;
  readonly onView: (view: View) => void;
  /** Starts to play whenever this changes. */
  readonly plays?: string | undefined;
  /** Set if Play stops once before the moment of proof. */
  readonly pauses?: boolean;
  /** Set on a page with several viewers: keys then work only in the focused one. */
  readonly ofSeveral?: boolean;
}

const SIDES = ['left', 'right'] as const;

export const PANELS: readonly (readonly [Panel, string])[] = [
  ['source', 'Source'],
  ['wire', 'Message'],
  ['state', 'State'],
  ['world', 'World'],
];

export function Viewer({ sides, view, onView, plays, pauses = false, ofSeveral = false }: ViewerProps) {
  const box = useRef<HTMLDivElement>(null);
  const { zoom } = view;
  const [left, right] = sides;
  const beatsAt = (near: Zoom) => {
    const rows = [left, right].map((side) => (side ? rowsAt(rowsOf(side.conversation), near) : []));
    return align(rows[0] ?? [], rows[1] ?? []);
  };
  const beats = beatsAt(zoom);
  const last = Math.max(0, beats.length - 1);
  const step = Math.min(view.step ?? last, last);
  const go = (to: number) => {
    const next = Math.max(0, Math.min(to, last));
    onView({ ...view, step: next === last ? undefined : next });
  };
  const zoomTo = (next: Zoom) => {
    // Stay at the same event, or the nearest one in the other zoom.
    const here = beats[step];
    const at = (here?.left ?? here?.right)?.at ?? 0;
    const isLeft = here?.left !== undefined;
    const moved = beatsAt(next).findLastIndex(
      (beat) => ((isLeft ? beat.left : beat.right)?.at ?? Number.POSITIVE_INFINITY) <= at,
    );
    onView({
      zoom: next,
      panel: next === 'wire' ? 'wire' : 'source',
      step: view.step === undefined ? undefined : Math.max(0, moved),
    });
  };
  const isOver = sides.every(({ conversation }) => conversation.end !== undefined);
  const proof = pauses ? findProof(beats) : undefined;
  const playing = usePlaying({ step, last, go, plays, proof });
  const toggle = isOver ? playing.toggle : undefined;
  useKeys({ go, step, last, toggle, zoomTo }, ofSeveral ? box : undefined);
  const seen = [left, right].map((side, at) => side && lookAt(side, SIDES[at] ?? 'left', beats, step));
  // Compare only when both sides have begun.
  const compares = SIDES.every((side) => beats.some((beat) => beat[side]));
  const differs = (beat: number) => compares && !(beats[beat]?.left && beats[beat]?.right);
  return (
    <div class={`viewer ${right ? 'two' : 'one'}`} ref={box}>
      {sides.map((side, index) => (
        <Side
          key={SIDES[index]}
          name={SIDES[index] ?? 'left'}
          side={side}
          seen={seen[index] as Seen}
          beats={beats}
          step={step}
          onStep={go}
          differs={differs}
          view={view}
          onPanel={(next) => onView({ ...view, panel: next })}
          named={!ofSeveral}
        />
      ))}
      <Timeline
        beats={beats}
        step={step}
        onStep={go}
        playing={isOver ? playing : undefined}
        zoom={zoom}
        onZoom={zoomTo}
        compares={compares}
        difference={seen[0] && seen[1] && difference(seen[0], seen[1])}
      />
    </div>
  );
}

/** The view of a side at a step. Without a row in this step, it keeps the previous one. */
function lookAt({ conversation }: Shown, name: 'left' | 'right', beats: readonly Beat[], step: number): Seen {
  const rows = beats.slice(0, step + 1).flatMap((beat) => beat[name] ?? []);
  const isEnd = step >= beats.length - 1;
  const until = isEnd ? conversation.events.length - 1 : (rows.at(-1)?.at ?? -1);
  const events = conversation.events.slice(0, until + 1);
  const stand = standsAt(events, rows);
  const isOver = isEnd && conversation.end !== undefined;
  return { name: shortName(conversation.title), conversation, rows, events, stand, isEnd: isOver };
}

interface SideProps {
  readonly name: 'left' | 'right';
  readonly side: Shown;
  readonly seen: Seen;
  readonly beats: readonly Beat[];
  readonly step: number;
  readonly onStep: (beat: number) => void;
  readonly differs: (beat: number) => boolean;
  readonly view: View;
  readonly onPanel: (panel: Panel) => void;
  /** Whether it is a named landmark of the page. */
  readonly named: boolean;
}

function Side({ name, side, seen, beats, step, onStep, differs, view, onPanel, named }: SideProps) {
  const id = useId();
  const [picked, setPicked] = useState<number | undefined>(undefined);
  const { conversation, insides } = side;
  const { events } = conversation;
  const rows = beats.map((beat) => beat[name]);
  const lanes = lanesAt(conversation, view.zoom);
  const { events: soFar, stand } = seen;
  const at = seen.rows.at(-1)?.at ?? -1;
  const until = soFar.length - 1;
  const ran = useMemo(() => ranAt(events, until), [events, until]);
  const file = stand?.file ?? filesIn(...ran.now, ...linesIn(events))[0] ?? side.file;
  const lit = useMemo(
    () => new Set(file && picked ? rowsThatRan(seen.rows, soFar, [file, picked]) : []),
    [seen.rows.length, soFar, file, picked],
  );
  const panels = PANELS.filter(([one]) => one !== 'source' || file !== undefined);
  const panel = panels.some(([one]) => one === view.panel) ? view.panel : 'wire';
  const drawing = { conversation, lanes, rows, differs, lit, step };
  return (
    <section
      class={`side ${name}`}
      aria-label={named ? `${name === 'left' ? 'Left' : 'Right'}: ${conversation.title}` : undefined}
    >
      {side.head && <header>{side.head}</header>}
      <Counts conversation={conversation} events={soFar} />
      <p class={`sentence ${moodOf(seen)}`}>{describe(seen)}</p>
      <div class="stage">
        <Lanes {...drawing} onStep={onStep} tool={side.laneTool} />
        {side.foot}
      </div>
      <EventsTable {...drawing} />
      <div class="below">
        <div class="tabs" role="tablist" aria-label="Below the lanes">
          {panels.map(([one, title]) => (
            <button
              key={one}
              type="button"
              role="tab"
              id={`${id}-${one}-tab`}
              aria-selected={panel === one}
              aria-controls={`${id}-panel`}
              onClick={() => onPanel(one)}
            >
              {title}
            </button>
          ))}
          {panel === 'source' && file && <span class="file">{file.replace('demos/', '')}</span>}
        </div>
        <div class="panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${panel}-tab`}>
          {panel === 'source' && (
            <Source
              file={file}
              ran={ran}
              stand={stand}
              picked={picked}
              broken={brokenLines(seen, file)}
              onPick={(line) => setPicked(line === picked ? undefined : line)}
            />
          )}
          {panel === 'wire' && <Wire events={events} at={at} />}
          {panel === 'state' && (
            <States events={events} at={until} insides={insides}>
              {side.stateTools}
            </States>
          )}
          {panel === 'world' && (
            <World
              rows={view.zoom === 'wire' ? rowsOf(conversation).filter((row) => row.at <= until) : seen.rows}
              end={seen.isEnd ? conversation.end : undefined}
              isSeen={conversation.participants.some(({ kind }) => kind === 'world')}
            />
          )}
        </div>
      </div>
    </section>
  );
}

/** Red for a broken promise, even if the call ended with an error; green for a refusal that did its work. */
function moodOf({ rows }: Seen): string {
  if (rows.some(({ event, tone }) => event.kind === 'effect' && tone === 'error')) return 'bad';
  const last = rows.findLast(({ event }) => event.kind === 'message')?.tone;
  return last === 'error' ? 'bad' : last === 'refused' ? 'safe' : '';
}

/** The lines of the effects that broke a promise. */
const brokenLines = ({ rows, events }: Seen, file: string | undefined): readonly number[] =>
  rows.flatMap((row) => {
    const place = row.event.kind === 'effect' && row.tone === 'error' ? placeOf(row, events) : undefined;
    return place && place[0] === file ? [place[1]] : [];
  });

const linesIn = (events: Conversation['events']) => eventsOf('lines', events).map(({ files }) => files);

interface Playing {
  readonly step: number;
  readonly last: number;
  readonly go: (to: number) => void;
  readonly plays: string | undefined;
  readonly proof: number | undefined;
}

const BEAT_MS = 650;

function usePlaying({ step, last, go, plays, proof }: Playing) {
  const [on, setOn] = useState(false);
  useEffect(() => {
    if (plays === undefined) return;
    // Without motion, jump to the last step.
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) go(last);
    else setOn(true);
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
