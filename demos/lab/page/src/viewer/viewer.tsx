/** The viewer: one conversation, or two in lockstep. Everything on it comes out of transcripts. */
import { CLIENT, eventsOf, objectIn, tally } from '@mrtr/harness/transcript';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Conversation, Insides } from '../../../src/protocol.ts';
import { EventsTable, Lanes } from './lanes.tsx';
import { align, type Beat, lanesOf, type Row, ranAt, rowsOf, type Zoom, zoomed } from './model.ts';
import { States, Wire, World } from './panels.tsx';
import { filesIn, Source } from './source.tsx';
import { Timeline } from './timeline.tsx';
import './viewer.css';
import './panels.css';

/** A panel below the lanes. */
export type Panel = 'source' | 'wire' | 'state' | 'world';

/** Which part of the conversations one looks at, and how near. */
export interface View {
  /** Undefined for the end. */
  readonly step?: number | undefined;
  readonly zoom: Zoom;
  readonly panel: Panel;
}

/** One of the conversations, and what stands around it. */
export interface Shown {
  readonly conversation: Conversation;
  readonly insides: Insides;
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
}

const PANELS: readonly (readonly [Panel, string])[] = [
  ['source', 'Source'],
  ['wire', 'Message'],
  ['state', 'State'],
  ['world', 'World'],
];

export function Viewer({ sides, view, onView }: ViewerProps) {
  const { zoom } = view;
  const [left, right] = sides;
  const rows = [left, right].map((side) => (side ? zoomed(rowsOf(side.conversation), zoom) : []));
  const beats = align(rows[0] ?? [], rows[1] ?? []);
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
    const others = [left, right].map((side) => (side ? zoomed(rowsOf(side.conversation), next) : []));
    const moved = align(others[0] ?? [], others[1] ?? []).findLastIndex(
      (beat) => ((isLeft ? beat.left : beat.right)?.at ?? Number.POSITIVE_INFINITY) <= at,
    );
    const panelOf = { call: 'world', rounds: 'source', wire: 'wire' } as const;
    onView({
      zoom: next,
      panel: panelOf[next],
      step: view.step === undefined ? undefined : Math.max(0, moved),
    });
  };
  const playing = usePlaying(step, last, go);
  useKeys({ go, step, last, toggle: playing.toggle, zoomTo });
  // A side that has not begun does not differ yet.
  const compares = right !== undefined && rows.every((some) => some.length > 0);
  const differs = (beat: number) => compares && !(beats[beat]?.left && beats[beat]?.right);
  return (
    <div class={`viewer ${right ? 'two' : 'one'}`}>
      {sides.map((side, index) => (
        <Side
          key={index === 0 ? 'left' : 'right'}
          name={index === 0 ? 'left' : 'right'}
          side={side}
          beats={beats}
          step={step}
          onStep={go}
          differs={differs}
          view={view}
          onPanel={(next) => onView({ ...view, panel: next })}
        />
      ))}
      <Timeline
        beats={beats}
        step={step}
        onStep={go}
        playing={playing}
        zoom={zoom}
        onZoom={zoomTo}
        differences={beats.filter((_, beat) => differs(beat)).length}
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
}

function Side({ name, side, beats, step, onStep, differs, view, onPanel }: SideProps) {
  const { conversation, insides } = side;
  const { events } = conversation;
  const rows = beats.map((beat) => beat[name]);
  const lanes = lanesOf(conversation, view.zoom);
  // Where this side has nothing in this step, it stands where it stood before.
  const at = rows.slice(0, step + 1).findLast((row) => row !== undefined)?.at ?? -1;
  const isEnd = step >= beats.length - 1;
  const until = isEnd ? events.length - 1 : at;
  const ran = useMemo(() => ranAt(events, at), [events, at]);
  const file = filesIn(ran.now, ...ran.before)[0] ?? filesIn(...linesIn(events))[0] ?? side.file;
  const soFar = events.slice(0, until + 1);
  const shown = rows.slice(0, step + 1).flatMap((row) => row ?? []);
  const drawing = { conversation, lanes, rows, differs, step };
  return (
    <section
      class={`side ${name}`}
      aria-label={`${name === 'left' ? 'Left' : 'Right'}: ${conversation.title}`}
    >
      <header>{side.head}</header>
      <Counts events={soFar} />
      <div class="stage">
        <Lanes {...drawing} onStep={onStep} tool={side.laneTool} />
        {side.foot}
      </div>
      <EventsTable {...drawing} />
      <div class="below">
        <div class="tabs" role="tablist" aria-label="Below the lanes">
          {PANELS.map(([id, title]) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`${name}-${id}-tab`}
              aria-selected={view.panel === id}
              aria-controls={`${name}-panel`}
              onClick={() => onPanel(id)}
            >
              {title}
            </button>
          ))}
          {view.panel === 'source' && file && (
            <span class="file">{file.replace('packages/options/', '')}</span>
          )}
        </div>
        <div class="panel" role="tabpanel" id={`${name}-panel`} aria-labelledby={`${name}-${view.panel}-tab`}>
          {view.panel === 'source' && <Source file={file} ran={ran} deployed={deployedIn(soFar)} />}
          {view.panel === 'wire' && <Wire events={events} at={at} />}
          {view.panel === 'state' && (
            <States events={events} at={until} insides={insides}>
              {side.stateTools}
            </States>
          )}
          {view.panel === 'world' && (
            <World
              rows={view.zoom === 'wire' ? rowsOf(conversation).filter((row) => row.at <= until) : shown}
              end={isEnd ? conversation.end : undefined}
            />
          )}
        </div>
      </div>
    </section>
  );
}

const linesIn = (events: Conversation['events']) => eventsOf('lines', events).map(({ files }) => files);

/** The numbers, as they are at this step. */
function Counts({ events }: { readonly events: Conversation['events'] }) {
  const { rounds, entries, questions, effects, framesHeld } = tally({ events });
  const sizes = eventsOf('message', events).flatMap(({ message, from }) => {
    const { requestState } = objectIn(message, 'result');
    return from !== CLIENT && typeof requestState === 'string' ? [requestState.length] : [];
  });
  const [audits, writes] = [effects.audit ?? 0, effects.write ?? 0];
  const twice = (name: string) => rowsOf({ events, participants: [] }).some(isAgain(name));
  const numbers: [string, string, boolean][] = [
    [`${audits}`, audits === 1 ? 'audit entry' : 'audit entries', twice('audit')],
    [`${writes}`, writes === 1 ? 'write' : 'writes', twice('write')],
    [`${entries}×`, 'entered', false],
    [`${rounds}`, rounds === 1 ? 'round' : 'rounds', false],
    [`${questions}`, 'asked', false],
    [sizes.length > 0 ? `${sizes.at(-1)} B` : '–', 'state', false],
    [`${framesHeld}`, 'held', false],
  ];
  return (
    <ul class="counts" aria-label="Counts at this step">
      {numbers.map(([number, name, bad]) => (
        <li key={name} class={bad ? 'bad' : ''}>
          <b>{number}</b> {name}
        </li>
      ))}
    </ul>
  );
}

/** Whether a row is an effect of that name which has happened before. */
const isAgain =
  (name: string) =>
  ({ event, bad }: Row): boolean =>
    event.kind === 'effect' && event.name === name && bad;

/** What was deployed last. */
const deployedIn = (events: Conversation['events']): string | undefined =>
  eventsOf('restart', events).findLast(({ deployed }) => deployed !== undefined)?.deployed;

/** Plays the steps, one after the other. */
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

interface Keys {
  readonly go: (to: number) => void;
  readonly step: number;
  readonly last: number;
  readonly toggle: () => void;
  readonly zoomTo: (zoom: Zoom) => void;
}

/** Arrows step, space plays, 1 to 3 zoom: wherever the focus is, but in a field. */
function useKeys(keys: Keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      const busy = target instanceof Element && target.closest('input, select, textarea, [role=tablist]');
      if (busy || event.metaKey || event.ctrlKey || event.altKey) return;
      const onButton = target instanceof Element && target.closest('button, a, summary');
      const { go, step, last, toggle, zoomTo } = latest.current;
      const actions: Readonly<Record<string, () => void>> = {
        ArrowLeft: () => go(step - 1),
        ArrowRight: () => go(step + 1),
        Home: () => go(0),
        End: () => go(last),
        '1': () => zoomTo('call'),
        '2': () => zoomTo('rounds'),
        '3': () => zoomTo('wire'),
        ...(!onButton && { ' ': toggle }),
      };
      const action = actions[key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
