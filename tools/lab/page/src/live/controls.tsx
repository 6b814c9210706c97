/** The controls of a side: choose the set-up, call, kill, restart, and set the network. */
import type { Fault, Offered, SideState } from '../../../src/protocol.ts';
import { CHOICES, isAddress, OWN, type SetUp, UNASKED } from '../../../src/set-up.ts';
import { Select } from '../select.tsx';
import type { SideProps } from './connection.ts';
import { OwnChoices } from './own.tsx';

/** The selects of a side besides its shape. */
const SELECTS = [
  ['Tool', 'tool'],
  ['Client', 'client'],
  ['Instances', 'instances'],
] as const;
/** The instance whose turn it is. */
const NEXT = '';
const ROUTES = { [NEXT]: 'to the next instance', i1: 'to server 1', i2: 'to server 2' } as const;
const DELIVERIES = { once: 'delivered once', twice: 'delivered twice', 'lose-answer': 'its answer is lost' };

const labelOf = ({ id, name, title, needsPostgres }: Offered) =>
  [id, `${name} · ${title}${needsPostgres ? ' (starts a database)' : ''}`] as const;

type Chosen = Pick<SideState, 'offered' | 'setUp' | 'own'>;

/** The author's file of a set-up. */
export const fileOf = ({ offered, setUp, own }: Chosen) =>
  setUp.option === OWN ? own?.source?.file : offered.find(({ id }) => id === setUp.option)?.files[setUp.tool];

/** Whether the shape lacks the chosen tool. */
const lacksTool = ({ offered, setUp }: Chosen) =>
  setUp.option === OWN
    ? false
    : setUp.tool === 'order'
      ? !offered.find(({ id }) => id === setUp.option)?.hasVersions
      : fileOf({ offered, setUp }) === undefined;

interface HeadProps extends SideProps {
  readonly onSetUp: (setUp: SetUp) => void;
}

export function Head({ side, state, send, onSetUp }: HeadProps) {
  const { offered, own, setUp, doing } = state;
  const isOwn = setUp.option === OWN;
  // There is one server at an address.
  const isSingle = isAddress(own?.server);
  const change = (part: Partial<SetUp>) => onSetUp({ ...setUp, ...part });
  return (
    <div class="controls">
      <Select
        class="shape"
        label={`Shape on the ${side}`}
        value={setUp.option}
        choices={{ ...(own && { [OWN]: 'Your server' }), ...Object.fromEntries(offered.map(labelOf)) }}
        lacks={(option) => lacksTool({ offered, setUp: { ...setUp, option } })}
        onChoice={(option) =>
          change({ option, ...(own && { own: setUp.own ?? { tool: '', arguments: {} } }) })
        }
      />
      {isOwn && <OwnChoices side={side} state={state} send={send} onSetUp={onSetUp} />}
      {SELECTS.filter(([, name]) => !isOwn || (name !== 'tool' && !(name === 'instances' && isSingle))).map(
        ([title, name]) => (
          <Select<string>
            key={name}
            label={`${title} on the ${side}`}
            value={setUp[name]}
            choices={CHOICES[name]}
            lacks={(value) => lacksTool({ offered, setUp: { ...setUp, [name]: value } })}
            onChoice={(value) => change({ [name]: value })}
          />
        ),
      )}
      {!isOwn && (
        <label>
          <input
            type="checkbox"
            checked={setUp.singleUse}
            onChange={(event) => change({ singleUse: event.currentTarget.checked })}
          />
          single use
        </label>
      )}
      {/* The form of an own server's arguments has the button. */}
      {!isOwn && (
        <button
          type="button"
          class="primary"
          aria-label="Make the call"
          disabled={doing !== 'ready' && doing !== 'over'}
          onClick={() => send({ do: 'call', side })}
        >
          Call
        </button>
      )}
    </div>
  );
}

export function InstanceTool({ side, state, send, instance }: SideProps & { readonly instance: string }) {
  const known = state.instances.find(({ id }) => id === instance);
  // A server at an address is not the lab's.
  if (!known || (state.setUp.option === OWN && isAddress(state.own?.server))) return null;
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

export function Network({ side, state, send }: SideProps) {
  const { fault, setUp, doing } = state;
  const set = (part: Partial<Fault>) => send({ do: 'fault', side, fault: { ...fault, ...part } });
  const isOld = setUp.client === 'legacy';
  const isFirst = doing !== 'calling' && doing !== 'asked';
  const request = isFirst ? 'First request' : isOld ? 'Next request' : 'Retry';
  return (
    <div class="line network">
      <span>{request}:</span>
      <Select
        label={`${request} on the ${side} goes to`}
        value={fault.to ?? NEXT}
        choices={ROUTES}
        disabled={setUp.instances === 'one'}
        onChoice={(to) => set({ to: to === NEXT ? undefined : to })}
      />
      <Select
        label={`${request} on the ${side} is delivered`}
        value={fault.deliver}
        choices={DELIVERIES}
        disabled={isOld}
        title={isOld ? 'An old client is asked down the stream of its call: it sends no retry.' : undefined}
        onChoice={(deliver) => set({ deliver })}
      />
      {setUp.option !== OWN && (
        <label>
          <input
            type="checkbox"
            checked={fault.unasked !== undefined}
            onChange={(event) =>
              set({ unasked: event.currentTarget.checked ? UNASKED[setUp.tool] : undefined })
            }
          />
          an unasked answer too
        </label>
      )}
      {fault.state !== undefined && (
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
