/** Records one option in every situation of the measured table. */
import { randomBytes } from 'node:crypto';
import {
  callSubject,
  findScript,
  listenersFor,
  type Measured as MeasuredOption,
  startSubject,
} from '@mrtr/comparison/calls';
import { MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { type Hosting, host, type LineTrace, type LocalHostingKind, scriptedUser } from '@mrtr/harness';
import { CLIENT, type Transcript } from '@mrtr/harness/transcript';
import { CALLS, insides } from './insides.ts';
import { network } from './network.ts';
import type { Fault, Recording } from './protocol.ts';
import { type SetUp, type ToolWord, UNASKED } from './set-up.ts';
import { statesIn } from './states.ts';

interface Situation extends Partial<Omit<SetUp, 'option' | 'instances'>> {
  readonly id: string;
  readonly about: string;
  readonly hosting?: LocalHostingKind;
  readonly legacy?: 'degrade';
  /** The name of the script whose user answers. Default: `metric`, or `duplicate` of the work item tool. */
  readonly script?: string;
  readonly faults?: readonly (Partial<Fault> | undefined)[];
  readonly otherState?: boolean;
}

const TWICE = { deliver: 'twice' } as const;
const RETRIED_TWICE = { tool: 'work-item', script: 'fixed', faults: [undefined, TWICE] } as const;

export const SITUATIONS: readonly Situation[] = Object.entries<Omit<Situation, 'id'>>({
  one: { about: 'one question, answered' },
  two: { about: 'two questions, answered', tool: 'work-item' },
  fleet: { about: 'one question; each round reaches another instance', hosting: 'fleet' },
  'fleet-two': {
    about: 'two questions; each round reaches another instance',
    hosting: 'fleet',
    tool: 'work-item',
  },
  restart: { about: 'the instance is restarted before each request', hosting: 'restart' },
  old: { about: 'an old client that holds its connection', client: 'legacy' },
  'old-two': { about: 'an old client is asked twice', client: 'legacy', tool: 'work-item' },
  'old-degrade': { about: "an old client, without the SDK's shim", client: 'legacy', legacy: 'degrade' },
  'old-fleet': { about: 'an old client of stateless instances', client: 'legacy', hosting: 'fleet' },
  unaskable: { about: 'a client that cannot be asked', client: 'unaskable' },
  decline: { about: 'the user declines', script: 'decline' },
  cancel: { about: 'the user cancels', script: 'cancel' },
  nonsense: { about: 'an answer that does not fit, then one that does', script: 'nonsense' },
  silence: { about: 'the user says nothing at first', script: 'silence' },
  twice: { about: 'the retry is delivered twice', ...RETRIED_TWICE },
  'twice-single': {
    about: 'the retry is delivered twice; state is single-use',
    ...RETRIED_TWICE,
    singleUse: true,
  },
  lost: {
    about: 'the answer to the retry is lost',
    tool: 'work-item',
    script: 'fixed',
    faults: [undefined, { deliver: 'lose-answer' }],
  },
  unasked: {
    about: 'an answer to a question that nobody asked',
    tool: 'work-item',
    faults: [{ unasked: UNASKED['work-item'] }],
  },
  'other-state': {
    about: 'the state of a call for another item',
    tool: 'work-item',
    faults: [undefined, undefined, {}],
    otherState: true,
  },
}).map(([id, situation]) => ({ id, ...situation }));

export async function record(
  option: MeasuredOption,
  situation: Situation,
  trace: LineTrace,
): Promise<Recording> {
  const { id, about, tool = 'weather', client = 'modern', hosting = 'memory', singleUse = false } = situation;
  const { legacy = 'shim', faults = [], script = tool === 'weather' ? 'metric' : 'duplicate' } = situation;
  const call = CALLS[tool];
  const key = randomBytes(32);
  const once = singleUse ? { ledger: new MemoryLedger() } : { singleUse: false as const };
  const policy = requestStatePolicy({ keys: [key], legacy, ...once });
  let requests = 0;
  const stolen = situation.otherState ? await stateOfAnotherItem(option, key) : undefined;
  const faultOf = (): Fault => {
    const fault: Fault = { deliver: 'once', ...faults[requests++] };
    return stolen !== undefined && requests === 3 ? { ...fault, state: stolen } : fault;
  };
  const transcript = await callSubject(
    {
      subject: option,
      client,
      hosting,
      legacy,
      call,
      user: findScript(script, call.params.name).user(),
      takeLines: () => linesOf(tool, trace.take()),
    },
    ({ world, recorder }) => {
      const listeners = { ...listenersFor(recorder), onServer: () => void trace.take() };
      const hosted = host(hosting, () => startSubject(option, { world, policy }, listeners));
      if (faults.length === 0) return hosted;
      const endpoint: Hosting['endpoint'] = (era) => {
        const there = hosted.endpoint(era);
        if (there.kind !== 'http') return there;
        return { ...there, fetch: network(there.fetch ?? fetch, recorder, faultOf) };
      };
      return { ...hosted, instances: hosted.instances, endpoint };
    },
  );
  const events = hosting === 'restart' ? moveRestarts(transcript.events) : transcript.events;
  return {
    id: `${option.id}.${id}`,
    about,
    transcript: { ...transcript, events },
    insides: insides(events, tool, key),
  };
}

/**
 * Moves each restart before the request that caused it: this hosting restarts its instance when a request comes, and
 * then delivers the request. Drops the restart before the first request.
 */
function moveRestarts(events: Transcript['events']): Transcript['events'] {
  const ordered = [...events];
  for (const [at, event] of ordered.entries()) {
    const before = ordered[at - 1];
    if (event.kind === 'restart' && before?.kind === 'message' && before.from === CLIENT)
      ordered.splice(at - 1, 2, { ...event, at: before.at }, { ...before, at: event.at });
  }
  return ordered[0]?.kind === 'restart' ? ordered.slice(1) : ordered;
}

/** The lines that ran in the tool's own files. Leaves out a handler of an earlier call that ends only now. */
function linesOf(tool: ToolWord, ran: ReturnType<LineTrace['take']>): ReturnType<LineTrace['take']> {
  if (!ran) return undefined;
  const isOwn = (file: string) => file.split('/').at(-1)?.startsWith(tool) === true;
  const files = Object.fromEntries(Object.entries(ran.files).filter(([file]) => isOwn(file)));
  const order = ran.order.filter(([file]) => isOwn(file));
  return order.length > 0 ? { files, order } : undefined;
}

/** The state with the second question about item 4301; undefined if the server sends no state. */
async function stateOfAnotherItem(option: MeasuredOption, key: Uint8Array): Promise<string | undefined> {
  const { params } = CALLS['work-item'];
  const call = { method: 'tools/call', params: { ...params, arguments: { id: 4301, state: 'Resolved' } } };
  const user = scriptedUser({ resolution: ['Duplicate'], original: [{ action: 'cancel' }] });
  const policy = requestStatePolicy({ keys: [key], singleUse: false });
  const transcript = await callSubject(
    { subject: option, client: 'modern', hosting: 'memory', legacy: 'shim', call: call as never, user },
    ({ world }) => host('memory', () => option.create({ world, policy })),
  );
  return statesIn(transcript.events).at(-1);
}
