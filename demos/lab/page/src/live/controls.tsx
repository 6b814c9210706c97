/** What one does to a side: choose what runs, call, kill, restart, and set the network. */
import type { Command, Fault, SetUp, SideName, SideState } from '../../../src/protocol.ts';
import { Choice } from '../choice.tsx';
import { fileOf, OFFERED } from './options.ts';

const TOOLS = [
  ['weather', 'asks once'],
  ['work-item', 'asks twice'],
  ['order', 'has a version 2'],
] as const;
const CLIENTS = [
  ['modern', 'new client'],
  ['legacy', 'old client'],
  ['mute', 'cannot be asked'],
] as const;
const INSTANCES = [
  ['one', '1 instance'],
  ['two', '2 instances'],
] as const;
/** The instance whose turn it is. */
const NEXT = '';
const ROUTES = [
  [NEXT, 'to the next instance'],
  ['i1', 'to server 1'],
  ['i2', 'to server 2'],
] as const;
const DELIVERIES = [
  ['once', 'delivered once'],
  ['twice', 'delivered twice'],
  ['lose-answer', 'its answer is lost'],
] as const;

type Send = (command: Command) => void;

interface ControlsProps {
  readonly side: SideName;
  readonly state: SideState;
  readonly send: Send;
  readonly onSetUp: (setUp: SetUp) => void;
}

export function Head({ side, state, send, onSetUp }: ControlsProps) {
  const { setUp, doing } = state;
  const change = (part: Partial<SetUp>) => onSetUp({ ...setUp, ...part });
  const isBusy = doing === 'calling' || doing === 'asked' || doing === 'starting';
  return (
    <div class="controls">
      <Choice
        class="shape"
        label={`Shape on the ${side}`}
        value={setUp.option}
        choices={OFFERED.map(({ id, name, title, needsPostgres }) => [
          id,
          `${name} · ${title}${needsPostgres ? ' (starts a database)' : ''}`,
        ])}
        lacks={(option) => fileOf({ ...setUp, option }) === undefined}
        onChoice={(option) => change({ option })}
      />
      <Choice
        label={`Tool on the ${side}`}
        value={setUp.tool}
        choices={TOOLS}
        lacks={(tool) => fileOf({ ...setUp, tool }) === undefined}
        onChoice={(tool) => change({ tool })}
      />
      <Choice
        label={`Client on the ${side}`}
        value={setUp.client}
        choices={CLIENTS}
        onChoice={(client) => change({ client })}
      />
      <Choice
        label={`Instances on the ${side}`}
        value={setUp.instances}
        choices={INSTANCES}
        onChoice={(instances) => change({ instances })}
      />
      <label>
        <input
          type="checkbox"
          checked={setUp.singleUse}
          onChange={(event) => change({ singleUse: event.currentTarget.checked })}
        />
        single use
      </label>
      <button
        type="button"
        class="primary"
        aria-label="Make the call"
        disabled={isBusy}
        onClick={() => send({ do: 'call', side })}
      >
        Call
      </button>
    </div>
  );
}

export function InstanceTool({
  side,
  state,
  send,
  instance,
}: Omit<ControlsProps, 'onSetUp'> & { instance: string }) {
  const known = state.instances.find(({ id }) => id === instance);
  if (!known) return null;
  const command = known.alive ? 'kill' : 'restart';
  return (
    <span class="tools">
      <button type="button" class={command} onClick={() => send({ do: command, side, instance: known.id })}>
        {command}
        <span class="unseen">
          {' '}
          {instance} on the {side}
        </span>
      </button>
    </span>
  );
}

const UNASKED = {
  weather: { key: 'units', content: { units: 'imperial' } },
  'work-item': { key: 'resolution', content: { resolution: 'Fixed' } },
  order: { key: 'size', content: { size: 'L' } },
} as const;

export function Network({ side, state, send }: Omit<ControlsProps, 'onSetUp'>) {
  const { way, setUp } = state;
  const set = (part: Partial<Fault>) => {
    const next = { ...way, ...part };
    // What is left out is as it was: JSON has no undefined.
    send({ do: 'way', side, way: next });
  };
  const isOld = setUp.client === 'legacy';
  return (
    <div class="line network">
      <span>Next request:</span>
      <Choice
        label={`Next request on the ${side} goes to`}
        value={way.to ?? NEXT}
        choices={ROUTES}
        disabled={setUp.instances === 'one'}
        onChoice={(to) => set({ to: to === NEXT ? undefined : to })}
      />
      <Choice
        label={`Next request on the ${side} is delivered`}
        value={way.deliver}
        choices={DELIVERIES}
        disabled={isOld}
        title={isOld ? 'An old client is asked down the stream of its call: it sends no retry.' : undefined}
        onChoice={(deliver) => set({ deliver })}
      />
      <label>
        <input
          type="checkbox"
          checked={way.unasked !== undefined}
          onChange={(event) =>
            set({ unasked: event.currentTarget.checked ? UNASKED[setUp.tool] : undefined })
          }
        />
        with an answer nobody asked for
      </label>
      {way.state !== undefined && (
        <span class="armed">
          with another state{' '}
          <button type="button" onClick={() => set({ state: undefined })}>
            undo
          </button>
        </span>
      )}
    </div>
  );
}
