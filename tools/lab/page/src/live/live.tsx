/** The live page: two real servers and two real clients, whose user is the person at the page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SideState } from '../../../src/protocol.ts';
import { OWN, type SetUp, SIDES, type SideName } from '../../../src/set-up.ts';
import { statesIn } from '../../../src/states.ts';
import { LessonStrip } from '../lessons/strip.tsx';
import { lessonOf, type PageProps, readSetUp, setUpText, viewing } from '../route.ts';
import { withEffects } from '../viewer/effects.ts';
import { type Shown, Viewer } from '../viewer/viewer.tsx';
import { type OpenLive, setUpBoth } from './connection.ts';
import { fileOf, Head, InstanceTool, Network } from './controls.tsx';
import { Deploy } from './deploy.tsx';
import { Beside, OwnCallForm } from './own.tsx';
import { QuestionForm } from './question.tsx';
import './live.css';
import { Tamper } from './tamper.tsx';

interface LiveProps extends PageProps {
  readonly live: OpenLive;
}

export function LivePage({ live, route, go }: LiveProps) {
  const { sides, send, gone } = live;
  const { left, right } = sides;
  const current = SIDES.map((side) => setUpText(sides[side].setUp));
  const setUp = (side: SideName, next: SetUp) => {
    send({ do: 'set-up', side, setUp: next });
    const parts = current.with(SIDES.indexOf(side), setUpText(next));
    go({ ...route, parts, view: { ...route.view, step: undefined } });
  };
  const lesson = lessonOf(route.lesson);
  const linked = route.parts.flatMap((part) => readSetUp(part) ?? []);
  const isOther =
    !left.own && linked.length === current.length && linked.map(setUpText).join() !== current.join();
  const events = left.conversation.events.length + right.conversation.events.length;
  const seen = useRef(events);
  useEffect(() => {
    // On a new event, the view moves to the end.
    if (seen.current !== events && route.view.step !== undefined)
      go({ ...route, view: { ...route.view, step: undefined } });
    seen.current = events;
  }, [events]);
  const file = left.own?.source?.file ?? '';
  const [effects, setEffects] = useState<Readonly<Record<string, readonly number[]>>>({});
  const named = effects[file] ?? [];
  const onName = (line: number) => {
    const others = named.filter((one) => one !== line);
    setEffects({ ...effects, [file]: others.length < named.length ? others : [...named, line] });
  };
  const paneOf = (side: SideName): Shown =>
    sideShown(side, live, { named, onName, onSetUp: (next) => setUp(side, next) });
  return (
    <>
      {lesson && <LessonStrip lesson={lesson} live={live} />}
      <main class="work">
        {gone && (
          <p class="link-strip" role="alert">
            {gone}
          </p>
        )}
        {isOther && (
          <p class="link-strip" role="status">
            This link holds another set-up: {linked.map(describeSetUp).join(' beside ')}.{' '}
            <button type="button" class="button primary" onClick={() => setUpBoth(live, linked)}>
              Set it up
            </button>{' '}
            <button type="button" class="button" onClick={() => go({ ...route, parts: [] })}>
              Keep this one
            </button>
          </p>
        )}
        {left.own && <Beside left={left} state={right} send={send} />}
        <Viewer
          sides={right.doing === 'off' ? [paneOf('left')] : [paneOf('left'), paneOf('right')]}
          {...viewing({ route, go })}
        />
      </main>
    </>
  );
}

/** The expiry of the open question's state. */
function expiryOf({ conversation, insides }: SideState) {
  const state = statesIn(conversation.events).at(-1);
  const inside = state === undefined ? undefined : insides[state];
  return inside?.sealed ? inside.expiresAt : undefined;
}

interface OnSide {
  readonly onSetUp: (setUp: SetUp) => void;
  /** The lines that have effects in the own server's file. */
  readonly named: readonly number[];
  readonly onName: (line: number) => void;
}

const describeSetUp = ({ option, tool, client }: SetUp) => `${option.toUpperCase()} (${tool}, ${client})`;

/** What the own server adds: its file, and the effects that its author named there. */
function ownShown(
  { own, conversation }: SideState,
  lines: readonly number[],
  onName: (line: number) => void,
): Partial<Shown> {
  const ranNone = conversation.end && !conversation.events.some(({ kind }) => kind === 'entry');
  const noLines =
    own?.noLines ??
    (ranNone
      ? `No line of ${own?.source?.file} ran in this call: it ended before your handler, or the tool stands in another file (--source).`
      : undefined);
  if (!own?.source) return { noLines };
  const named = { ...own.source, lines };
  return { noLines, own: { ...named, onName }, conversation: withEffects(conversation, named) };
}

function sideShown(
  side: SideName,
  { sides, send, gone }: OpenLive,
  { named, onName, onSetUp }: OnSide,
): Shown {
  const state = sides[side];
  const { setUp, asked, problem } = state;
  const known = { side, state, send };
  return {
    conversation: state.conversation,
    insides: state.insides,
    file: fileOf(state),
    ...(setUp.option === OWN && ownShown(state, named, onName)),
    head: (
      <div inert={gone !== undefined}>
        <Head {...known} onSetUp={onSetUp} />
      </div>
    ),
    laneTool: gone ? undefined : (instance) => <InstanceTool {...known} instance={instance} />,
    stateTools: gone === undefined && <Tamper {...known} other={sides[side === 'left' ? 'right' : 'left']} />,
    foot: gone === undefined && (
      <div class={`foot ${asked ? 'asks' : ''}`}>
        {asked && (
          <QuestionForm
            key={asked.id}
            side={side}
            asked={asked}
            until={expiryOf(state)}
            onReply={(reply, isAgent) => {
              send({ do: 'answer', side, question: asked.id, reply, isAgent });
              // The pressed button disappears, so keep the focus on this side.
              document.querySelector<HTMLElement>(`.side.${side} .lanes`)?.focus();
            }}
          />
        )}
        {setUp.option === OWN && !asked && <OwnCallForm {...known} />}
        {setUp.option !== OWN && setUp.tool === 'order' && <Deploy {...known} />}
        <Network {...known} />
        {state.doing === 'starting' && <p role="status">The server is starting …</p>}
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </div>
    ),
  };
}
