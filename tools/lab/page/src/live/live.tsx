/** The live page: two real servers and two real clients, whose user is the person at the page. */
import { useEffect, useRef } from 'preact/hooks';
import type { Command, Conversation, SetUp, SideName, SideState } from '../../../src/protocol.ts';
import { statesIn } from '../../../src/states.ts';
import { LessonStrip } from '../lessons/strip.tsx';
import type { Route } from '../route.ts';
import { type Shown, Viewer } from '../viewer/viewer.tsx';
import type { Live } from './connection.ts';
import { fileOf, Head, InstanceTool, Network } from './controls.tsx';
import { Deploy } from './deploy.tsx';
import { Question } from './question.tsx';
import './live.css';
import { Tamper } from './tamper.tsx';

type LiveRoute = Extract<Route, { page: 'live' }>;

interface LiveProps {
  readonly live: Extract<Live, { kind: 'open' }>;
  readonly route: LiveRoute;
  readonly go: (route: Route) => void;
  readonly onShown: (conversations: readonly Conversation[]) => void;
}

export function LivePage({ live, route, go, onShown }: LiveProps) {
  const { sides, send, gone } = live;
  const { left, right } = sides;
  useEffect(() => {
    onShown([left.conversation, right.conversation].filter(({ events }) => events.length > 0));
  }, [left.conversation, right.conversation]);
  const setUp = (side: SideName, next: SetUp) => {
    void send({ do: 'set-up', side, setUp: next });
    const setUps = { left: left.setUp, right: right.setUp, [side]: next };
    go({ ...route, setUps: [setUps.left, setUps.right], view: { ...route.view, step: undefined } });
  };
  const isOther =
    route.setUps !== undefined && JSON.stringify(route.setUps) !== JSON.stringify([left.setUp, right.setUp]);
  const events = left.conversation.events.length + right.conversation.events.length;
  const seen = useRef(events);
  useEffect(() => {
    // On a new event, the view moves to the end.
    if (seen.current !== events && route.view.step !== undefined)
      go({ ...route, view: { ...route.view, step: undefined } });
    seen.current = events;
  }, [events]);
  const paneOf = (side: SideName): Shown => sideShown(side, live, (next) => setUp(side, next));
  return (
    <>
      {route.lesson && <LessonStrip id={route.lesson} live={live} />}
      <main class="work">
        {gone && (
          <p class="link-strip" role="alert">
            {gone}
          </p>
        )}
        {isOther && route.setUps && (
          <p class="link-strip" role="status">
            This link holds another set-up: {route.setUps.map(describeSetUp).join(' beside ')}.{' '}
            <button
              type="button"
              class="button primary"
              onClick={() => {
                for (const [at, side] of (['left', 'right'] as const).entries()) {
                  const next = route.setUps?.[at];
                  if (next) void send({ do: 'set-up', side, setUp: next });
                }
              }}
            >
              Set it up
            </button>{' '}
            <button type="button" class="button" onClick={() => go({ ...route, setUps: undefined })}>
              Keep this one
            </button>
          </p>
        )}
        <Viewer
          sides={[paneOf('left'), paneOf('right')]}
          view={route.view}
          onView={(next) => go({ ...route, view: next })}
        />
      </main>
    </>
  );
}

/** The expiry of the open question's state. */
function expiryOf({ conversation, insides }: SideState): number | undefined {
  const state = statesIn(conversation.events).at(-1);
  return state === undefined ? undefined : insides[state]?.expiresAt;
}

const describeSetUp = ({ option, tool, client }: SetUp): string =>
  `${option.toUpperCase()} (${tool}, ${client})`;

function sideShown(
  side: SideName,
  { sides, send, gone }: LiveProps['live'],
  onSetUp: (setUp: SetUp) => void,
): Shown {
  const state = sides[side];
  const { setUp, asked, problem } = state;
  const command = (one: Command) => void send(one);
  const known = { side, state, send: command };
  return {
    conversation: state.conversation,
    insides: state.insides,
    file: fileOf(state),
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
          <Question
            key={asked.id}
            asked={asked}
            until={expiryOf(state)}
            onReply={(reply) => {
              command({ do: 'answer', side, question: asked.id, reply });
              // The pressed button disappears, so keep the focus on this side.
              document.querySelector<HTMLElement>(`.side.${side} .lanes`)?.focus();
            }}
          />
        )}
        {setUp.tool === 'order' && <Deploy {...known} />}
        <Network {...known} />
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </div>
    ),
  };
}
