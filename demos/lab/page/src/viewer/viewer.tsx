/** The viewer: one conversation, or two in lockstep. Everything on it comes out of transcripts. */
import { eventsOf, rowsOf } from '@mrtr/harness/transcript';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Conversation, Insides } from '../../../src/protocol.ts';
import { Counts } from './counts.tsx';
import { useKeys } from './keys.ts';
import { EventsTable, Lanes } from './lanes.tsx';
import { align, type Beat, lanesAt, ranAt, rowsAt, type Zoom } from './model.ts';
import { States, Wire, World } from './panels.tsx';
import { filesIn, Source } from './source.tsx';
import { Timeline } from './timeline.tsx';
import './viewer.css';
import './panels.css';

export type Panel = 'source' | 'wire' | 'state' | 'world';

export interface View {
  /** Undefined for the end. */
  readonly step?: number | undefined;
  readonly zoom: Zoom;
  readonly panel: Panel;
}

export interface Shown {
  readonly conversation: Conversation;
  /** Left out where nobody has the key. */
  readonly insides?: Insides;
  /** The author's file, where nothing of it ran yet. */
  readonly file?: string | undefined;
  readonly head: ComponentChildren;
  readonly laneTool?: ((instance: string) => ComponentChildren) | undefined;
  readonly stateTools?: ComponentChildren;
  /** Lies over the end of the lanes, such as a question that waits for the person. */
  readonly foot?: ComponentChildren;
}

interface ViewerProps {
  readonly sides: readonly [Shown] | readonly [Shown, Shown];
  readonly view: View;
  readonly onView: (view: View) => void;
  /** Set where the page shows several: keys then work in the one that has the focus. */
  readonly ofSeveral?: boolean;
}

const SIDES = ['left', 'right'] as const;

const PANELS: readonly (readonly [Panel, string])[] = [
  ['source', 'Source'],
  ['wire', 'Message'],
  ['state', 'State'],
  ['world', 'World'],
];

export function Viewer({ sides, view, onView, ofSeveral = false }: ViewerProps) {
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
    // One stays at the same event, as near as the other zoom has it.
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
  const playing = usePlaying(step, last, go);
  useKeys({ go, step, last, toggle: playing.toggle, zoomTo }, ofSeveral ? box : undefined);
  // A side that has not begun does not differ yet.
  const compares = SIDES.every((side) => beats.some((beat) => beat[side]));
  const differs = (beat: number) => compares && !(beats[beat]?.left && beats[beat]?.right);
  return (
    <div class={`viewer ${right ? 'two' : 'one'}`} ref={box}>
      {sides.map((side, index) => (
        <Side
          key={SIDES[index]}
          name={SIDES[index] ?? 'left'}
          side={side}
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
        playing={playing}
        zoom={zoom}
        onZoom={zoomTo}
        compares={compares}
      />
    </div>
  );
}

interface SideProps {
  readonly name: 'left' | 'right';
  readonly side: Shown;
  readonly beats: readonly Beat[];
  readonly step: number;
  readonly onStep: (beat: number) => void;
  readonly differs: (beat: number) => boolean;
  readonly view: View;
  readonly onPanel: (panel: Panel) => void;
  /** Whether it is a landmark of the page. */
  readonly named: boolean;
}

function Side({ name, side, beats, step, onStep, differs, view, onPanel, named }: SideProps) {
  const id = useId();
  const { conversation, insides } = side;
  const { events } = conversation;
  const rows = beats.map((beat) => beat[name]);
  const lanes = lanesAt(conversation, view.zoom);
  // Where this side has nothing in this step, it stands where it stood before.
  const at = rows.slice(0, step + 1).findLast((row) => row !== undefined)?.at ?? -1;
  const isEnd = step >= beats.length - 1;
  const until = isEnd ? events.length - 1 : at;
  const soFar = events.slice(0, until + 1);
  const ran = useMemo(() => ranAt(events, until), [events, until]);
  const file = filesIn(...ran.now, ...linesIn(events))[0] ?? side.file;
  const panels = PANELS.filter(([one]) => one !== 'source' || file !== undefined);
  const panel = panels.some(([one]) => one === view.panel) ? view.panel : 'wire';
  const shown = rows.slice(0, step + 1).flatMap((row) => row ?? []);
  const drawing = { conversation, lanes, rows, differs, step };
  return (
    <section
      class={`side ${name}`}
      aria-label={named ? `${name === 'left' ? 'Left' : 'Right'}: ${conversation.title}` : undefined}
    >
      {side.head && <header>{side.head}</header>}
      <Counts conversation={conversation} events={soFar} />
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
          {panel === 'source' && file && <span class="file">{file.replace('packages/options/', '')}</span>}
        </div>
        <div class="panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${panel}-tab`}>
          {panel === 'source' && <Source file={file} ran={ran} />}
          {panel === 'wire' && <Wire events={events} at={at} />}
          {panel === 'state' && (
            <States events={events} at={until} insides={insides}>
              {side.stateTools}
            </States>
          )}
          {panel === 'world' && (
            <World
              rows={view.zoom === 'wire' ? rowsOf(conversation).filter((row) => row.at <= until) : shown}
              end={isEnd ? conversation.end : undefined}
              isSeen={conversation.participants.some(({ kind }) => kind === 'world')}
            />
          )}
        </div>
      </div>
    </section>
  );
}

const linesIn = (events: Conversation['events']) => eventsOf('lines', events).map(({ files }) => files);

function usePlaying(step: number, last: number, go: (to: number) => void) {
  const [on, setOn] = useState(false);
  useEffect(() => {
    if (!on) return;
    if (step >= last) {
      setOn(false);
      return;
    }
    const timer = setTimeout(() => go(step + 1), 650);
    return () => clearTimeout(timer);
  });
  const toggle = () => {
    if (!on && step >= last) go(0);
    setOn(!on);
  };
  return { on, toggle };
}
