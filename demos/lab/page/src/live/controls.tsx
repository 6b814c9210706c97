/** What one does to a side: choose what runs, call, kill, restart, and set the network. */
import type { Command, Fault, SetUp, SideName, SideState } from '../../../src/protocol.ts';
import { fileOf, OFFERED } from './options.ts';

type Send = (command: Command) => void;

interface ControlsProps {
  readonly side: SideName;
  readonly state: SideState;
  readonly send: Send;
  readonly onSetUp: (setUp: SetUp) => void;
}

/** The head of a live side. */
export function Head({ side, state, send, onSetUp }: ControlsProps) {
  const { setUp, doing } = state;
  const change = (part: Partial<SetUp>) => onSetUp({ ...setUp, ...part });
  const isBusy = doing === 'calling' || doing === 'asked' || doing === 'starting';
  return (
    <div class="controls">
      <select
        class="shape"
        aria-label={`Shape on the ${side}`}
        value={setUp.option}
        onChange={(event) => change({ option: event.currentTarget.value })}
      >
        {OFFERED.map(({ id, name, title, needsPostgres, files }) => (
          <option key={id} value={id} disabled={!files[setUp.tool]}>
            {name} · {title}
            {needsPostgres ? ' (starts a database)' : ''}
          </option>
        ))}
      </select>
      <Choice
        label="Tool"
        side={side}
        value={setUp.tool}
        choices={{ weather: 'asks once', 'work-item': 'asks twice', order: 'has a version 2' }}
        lacks={(tool) => fileOf({ ...setUp, tool }) === undefined}
        onChoice={(tool) => change({ tool })}
      />
      <Choice
        label="Client"
        side={side}
        value={setUp.client}
        choices={{ modern: 'new client', legacy: 'old client', mute: 'mute client' }}
        onChoice={(client) => change({ client })}
      />
      <Choice
        label="Instances"
        side={side}
        value={setUp.instances}
        choices={{ one: '1 instance', two: '2 instances' }}
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

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly side: SideName;
  readonly value: Value;
  readonly choices: Readonly<Record<Value, string>>;
  /** Whether a value cannot be chosen with the rest of the set-up. */
  readonly lacks?: (value: Value) => boolean;
  readonly onChoice: (value: Value) => void;
}

function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, side, value, choices, lacks, onChoice } = props;
  return (
    <select
      aria-label={`${label} on the ${side}`}
      value={value}
      onChange={(event) => onChoice(event.currentTarget.value as Value)}
    >
      {Object.entries<string>(choices).map(([id, words]) => (
        <option key={id} value={id} disabled={lacks?.(id as Value)}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** Below the head of an instance's lane. */
export function InstanceTool({
  side,
  state,
  send,
  instance,
}: Omit<ControlsProps, 'onSetUp'> & { instance: string }) {
  const known = state.instances.find(({ id }) => id === instance);
  if (!known) return null;
  return (
    <span class="tools">
      {known.alive ? (
        <button type="button" class="kill" onClick={() => send({ do: 'kill', side, instance })}>
          kill
          <span class="unseen">
            {' '}
            {instance} on the {side}
          </span>
        </button>
      ) : (
        <button type="button" onClick={() => send({ do: 'restart', side, instance })}>
          restart
          <span class="unseen">
            {' '}
            {instance} on the {side}
          </span>
        </button>
      )}
    </span>
  );
}

/** What nobody asked for, by tool. */
const UNASKED = {
  weather: { key: 'units', content: { units: 'imperial' } },
  'work-item': { key: 'resolution', content: { resolution: 'Fixed' } },
  order: { key: 'size', content: { size: 'L' } },
} as const;

/** What the network does to the next request. */
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
      <select
        aria-label={`Next request on the ${side} goes to`}
        value={way.to ?? ''}
        disabled={setUp.instances === 'one'}
        onChange={(event) => set({ to: event.currentTarget.value || undefined })}
      >
        <option value="">to the next instance</option>
        <option value="i1">to server 1</option>
        <option value="i2">to server 2</option>
      </select>
      <select
        aria-label={`Next request on the ${side} is delivered`}
        value={way.deliver}
        disabled={isOld}
        title={isOld ? 'An old client is asked down the stream of its call: it sends no retry.' : undefined}
        onChange={(event) => set({ deliver: event.currentTarget.value as Fault['deliver'] })}
      >
        <option value="once">delivered once</option>
        <option value="twice">delivered twice</option>
        <option value="lose-answer">its answer is lost</option>
      </select>
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
