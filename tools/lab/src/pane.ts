/** One side of the lab: a shape or a server of the user's own in real processes, its network, and its call. */
import { randomBytes } from 'node:crypto';
import { recordedWorld } from '@mrtr/comparison/calls';
import type { Change } from '@mrtr/comparison/claims';
import { addressOf, findOption, type ListedOption } from '@mrtr/comparison/options';
import type { Hosting } from '@mrtr/harness';
import type { Recorder } from '@mrtr/harness/internal';
import { versionOf } from '@mrtr/matrix/deploy';
import {
  type Database,
  type InstanceAddress,
  type InstanceProcess,
  type Opening,
  processFleet,
  startInstance,
} from '@mrtr/matrix/processes';
import { type Call, emptyConversation, startCall } from './call.ts';
import { CALLS, insides } from './insides.ts';
import { network } from './network.ts';
import { OFFERED } from './offered.ts';
import { callLines } from './own/call-lines.ts';
import { type OwnInstance, startOwn } from './own/own-instance.ts';
import { listTools, type OwnServer } from './own/own-server.ts';
import { watchProbe } from './own/probe.ts';
import type { Postgres } from './postgres.ts';
import type { Command, Fault, SideState } from './protocol.ts';
import { INSTANCE_IDS, type InstanceId, OWN, type OwnCall, type SetUp } from './set-up.ts';

const STRAIGHT: Fault = { deliver: 'once' };

class Refused extends Error {}

type Running = InstanceProcess | OwnInstance;

const isOwn = (instance: Running): instance is OwnInstance => 'connect' in instance;

/** What both sides share, and the server of the user's own, if the lab was opened with one. */
interface Means {
  readonly database: Database;
  readonly postgres: Postgres;
  readonly own?: OwnServer | undefined;
}

/** What each command does. It throws {@link Refused}. */
type Commands = {
  readonly [Do in Command['do']]: (command: Extract<Command, { do: Do }>) => Promise<void> | void;
};

/** One of the two sides. */
export type Pane = ReturnType<typeof openPane>;

/** Makes a side that is off. Calls `changed` whenever its state changes. */
export function openPane({ database, postgres, own }: Means, first: SetUp, changed: () => void) {
  const key = randomBytes(32);
  const instances: Partial<Record<InstanceId, Running>> = {};
  let current = first;
  let doing: SideState['doing'] = 'off';
  let problem: string | undefined;
  let fault = STRAIGHT;
  /** The connection string of the database that holds calls, for an option that needs one. */
  let calls: string | undefined;
  /** The latest call. */
  let call: Call | undefined;
  /** The arguments of an option's call, in place of the lab's own. */
  let others: OwnCall['arguments'] | undefined;
  /** The version of the code that serves the call. */
  let version = FIRST;
  /** Lets an instance serve the open call, at first or as one that was restarted. */
  let join: ((id: InstanceId, restart?: { readonly deployed?: string }) => Promise<void>) | undefined;

  function became(next: SideState['doing']) {
    doing = next;
    problem = undefined;
    changed();
  }

  /** The server of the user's own, if the side serves it. */
  const findServed = () => (current.option === OWN ? own : undefined);
  const listUsed = () => (current.instances === 'one' ? INSTANCE_IDS.slice(0, 1) : INSTANCE_IDS);
  const isAlive = (id: InstanceId) => instances[id]?.alive === true;

  async function startOne(id: InstanceId) {
    const server = findServed();
    instances[id] = await (server ? startOwn(server) : startInstance(database));
  }

  const revive = (ids: readonly InstanceId[]) => Promise.all(ids.filter((id) => !isAlive(id)).map(startOne));

  /** Ends its processes. */
  async function close() {
    await Promise.all(Object.values(instances).map((one) => one.alive && one.kill()));
  }

  async function start() {
    became('starting');
    try {
      // A command of the user's own is started only when it is used.
      await revive(findServed() ? listUsed() : INSTANCE_IDS);
      await findTools();
    } finally {
      became('ready');
    }
  }

  /** Lists the tools of the own server, and chooses the first one if none was chosen. */
  async function findTools() {
    const [server, instance] = [findServed(), instances.i1];
    if (!server || !instance || !isOwn(instance) || server.tools.length > 0) return;
    try {
      server.tools = await listTools(instance.fetch, current.client === 'legacy');
    } catch (error) {
      const why = (error as Error).message.replace(/^.*(?=The server ended)/s, '');
      const wrote = instance.tail.length > why.length ? ` It wrote:\n${instance.tail}` : '';
      throw new Refused(`The server did not list its tools. ${why}${wrote}`);
    }
    const names = server.tools.map(({ name }) => name);
    const [name] = names;
    const { own: chosen } = current;
    if (!chosen || name === undefined || names.includes(chosen.tool)) return;
    current = { ...current, own: { ...chosen, tool: name } };
    if (chosen.tool)
      throw new Refused(`The server has no tool '${chosen.tool}'. It has ${names.join(', ')}.`);
  }

  /** Opens a database for the side's calls. If that fails, restores the set-up `before`. */
  async function needPostgres(option: string, before: SetUp) {
    if (calls !== undefined) return;
    became('starting');
    try {
      calls = await postgres.database();
    } catch (error) {
      current = before;
      became('ready');
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? cause.message : message;
      throw new Refused(`${option} needs a PostgreSQL, and none could be started here: ${why}`);
    }
  }

  /** The call of the set-up, and what serves it. */
  function calledNow() {
    const { tool, own: chosen = { tool: '', arguments: {} } } = current;
    const optionCall = { ...CALLS[tool], ...(others && { arguments: others }) };
    return { setUp: current, call: findServed() ? chosen : optionCall, instances: listUsed() };
  }

  /** How the processes serve the call of an option. */
  function openingOf({ option, instances, singleUse, legacy = 'shim', tool }: SetUp): Opening {
    const listed = findOption(option) as ListedOption;
    return {
      ...(tool === 'order' ? versionOf(listed, version) : { module: addressOf(listed) }),
      ...(listed.needsPostgres && { postgres: calls }),
      key: key.toString('base64'),
      legacy,
      serve: instances === 'one' ? 'sessions' : 'stateless',
      singleUse: singleUse ? 'shared' : false,
      countLines: true,
    };
  }

  /** Takes the fault of this request; the next one has none. The chosen instance stays. */
  function takeFault() {
    const taken = fault;
    fault = { deliver: 'once', to: taken.to };
    return taken;
  }

  async function host(recorder: Recorder): Promise<Hosting> {
    const world = recordedWorld(recorder);
    const fleet = processFleet<Running>(database, { world, recorder }, () => fault.to);
    const lines = callLines(
      recorder,
      (line) => own?.before.has(line) === true,
      (file) => own?.find(file),
    );
    version = FIRST;
    const joinFleet: typeof join = (id, restart) => {
      const instance = instances[id] as Running;
      const connect = (place: InstanceAddress) =>
        isOwn(instance) ? instance.connect(lines, place.instance) : instance.open(place, openingOf(current));
      return fleet.open(id, instance, connect, restart);
    };
    join = joinFleet;
    const leave = async () => {
      join = undefined;
      await fleet.close();
    };
    try {
      for (const id of listUsed()) await joinFleet(id);
    } catch (error) {
      // An instance has ended since the call began.
      await leave();
      throw error;
    }
    const { fetch, ...endpoint } = fleet.endpoint();
    const probe = findServed()?.options.probe;
    const send = probe ? watchProbe(probe, fetch, recorder) : fetch;
    return {
      instances: listUsed(),
      endpoint: () => ({ ...endpoint, fetch: network(send, recorder, takeFault) }),
      framesHeld: fleet.framesHeld,
      close: leave,
    };
  }

  const commands: Commands = {
    /** Chooses another server, tool, client or hosting. Abandons the open call: its user cancels. */
    async 'set-up'({ setUp }) {
      const offered = setUp.option === OWN ? undefined : findOffered(setUp);
      if (setUp.option === OWN && !own)
        throw new Refused('The lab was opened without a server of your own: pnpm lab --server.');
      const source = setUp.option === OWN ? setUp.own?.source : undefined;
      if (source !== undefined && source !== own?.sourceName && !own?.loaded.has(source))
        throw new Refused(`The server has not loaded '${source}'.`);
      // To cancel would send the user's own server another round.
      if (findServed() && join) await close();
      await call?.abandon();
      const before = current;
      current = setUp;
      if (offered?.needsPostgres) await needPostgres(offered.name, before);
      call = undefined;
      fault = STRAIGHT;
      const isOther = (before.option === OWN) !== (setUp.option === OWN);
      // A process on stdio serves clients of one era.
      const isOtherEra = findServed() && (before.client === 'legacy') !== (setUp.client === 'legacy');
      if (isOther || isOtherEra || own?.choose(source) === true) {
        own?.before.clear();
        await close();
      }
      await start();
    },

    async call({ own: chosen = current.own, arguments: given }) {
      if (doing !== 'ready' && doing !== 'over') throw new Refused('A call is going on.');
      if (chosen) current = { ...current, own: { ...chosen, source: current.own?.source } };
      others = given;
      await revive(listUsed());
      call = undefined;
      became('calling');
      const called = calledNow();
      const onAsk = () => findServed()?.hasAsked(called.call.tool);
      call = startCall({ ...called, host, changed, became, onAsk, close });
    },

    async close() {
      await call?.abandon();
      await close();
      call = undefined;
      became('off');
    },

    /** Answers the open question, as a person or as a program in a person's place. */
    answer({ question, reply, isAgent = false }) {
      if (call?.asked?.id !== question) throw new Refused('That question is not open.');
      call.answer(reply, isAgent);
    },

    fault({ fault: next }) {
      if (next.to !== undefined && !listUsed().includes(next.to))
        throw new Refused(`There is no instance '${next.to}'.`);
      if (current.client === 'legacy' && (next.deliver !== 'once' || next.state !== undefined))
        throw new Refused(
          'An old client is asked down the stream of its call: it sends no retry and no state.',
        );
      fault = next;
      changed();
    },

    /** Kills an instance with SIGKILL. */
    async kill({ instance: id }) {
      const instance = instances[id];
      if (!instance?.alive) throw new Refused(`There is no living instance '${id}'.`);
      if (isOwn(instance) && !instance.isOwned)
        throw new Refused('The lab did not start this server, so it cannot kill it.');
      await instance.kill();
      changed();
    },

    async restart({ instance: id }) {
      if (isAlive(id)) throw new Refused(`'${id}' is alive.`);
      await startOne(id);
      if (!join) await findTools();
      else if (listUsed().includes(id)) await join(id, {});
      changed();
    },

    /** Replaces the call's processes by new ones with other code. */
    async deploy({ change }) {
      if (!hasVersions(current)) throw new Refused('This tool has no version 2.');
      if (doing !== 'asked') throw new Refused('Deploy a version while a question is open.');
      if (version !== FIRST) throw new Refused('Version 2 runs already. The next call begins on version 1.');
      version = change;
      const replace = async (id: InstanceId) => {
        const old = instances[id] as InstanceProcess;
        // The new process serves before the old one ends, as behind any load balancer.
        await startOne(id);
        await join?.(id, { deployed: change });
        if (old.alive) await old.stop();
      };
      await Promise.all(listUsed().map(replace));
      changed();
    },
  };

  return {
    get state(): SideState {
      const called = calledNow();
      const conversation = call?.conversation ?? emptyConversation(called);
      return {
        offered: OFFERED,
        own: own?.state,
        setUp: current,
        doing,
        instances: INSTANCE_IDS.map((id) => ({ id, alive: isAlive(id) })),
        conversation,
        asked: call?.asked,
        fault,
        insides: findServed() ? {} : insides(conversation.events, called.call, key),
        problem,
      };
    },

    start,
    close,

    async run(command: Command) {
      await (commands[command.do] as (command: Command) => Promise<void> | void)(command);
    },

    /** Shows why something was refused, or failed. */
    fail(error: unknown) {
      problem = error instanceof Refused ? error.message : `That failed: ${String(error)}`;
      changed();
    },
  };
}

/** Every call begins on version 1. */
const FIRST: Change = 'nothing';

/** @throws Refused for an option that is not there, or that lacks the tool */
function findOffered(setUp: SetUp) {
  const offered = OFFERED.find(({ id }) => id === setUp.option);
  if (!offered) throw new Refused(`There is no option '${setUp.option}'.`);
  if (hasVersions(setUp) && !offered.hasVersions)
    throw new Refused(
      `${offered.name} is not among the shapes that the tool with a version 2 is written in.`,
    );
  return offered;
}

const hasVersions = ({ option, tool }: SetUp) => option !== OWN && tool === 'order';
