/**
 * One side of the lab: a shape or a server of the user's own, in real processes, and a real client whose user is a person
 * at the page.
 */
import { randomBytes } from 'node:crypto';
import { recordedWorld, toolCall, withWorld } from '@mrtr/comparison/calls';
import type { Change } from '@mrtr/comparison/claims';
import { addressOf, findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { converse, type Hosting, type Reply, type ShownQuestion } from '@mrtr/harness';
import { participantsOf, type Recorder } from '@mrtr/harness/internal';
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import { versionOf } from '@mrtr/matrix/deploy';
import {
  type Database,
  type InstanceAddress,
  type InstanceProcess,
  type Opening,
  processFleet,
  startInstance,
} from '@mrtr/matrix/processes';
import { CALLS, insides } from './insides.ts';
import { network } from './network.ts';
import { OFFERED } from './offered.ts';
import { callLines } from './own/call-lines.ts';
import { type OwnInstance, startOwn } from './own/own-instance.ts';
import { listTools, type OwnServer } from './own/own-server.ts';
import { watchProbe } from './own/probe.ts';
import type { Postgres } from './postgres.ts';
import type { Asked, Fault, SideState, TranscriptSoFar } from './protocol.ts';
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

/** One of the two sides. Calls `changed` whenever its state changes. */
export class Pane {
  readonly #database: Database;
  readonly #postgres: Postgres;
  readonly #own: OwnServer | undefined;
  /** The connection string of the database that holds calls, for an option that needs one. */
  #calls: string | undefined;
  readonly #changed: () => void;
  #setUp: SetUp;
  readonly #instances: Partial<Record<InstanceId, Running>> = {};
  /** Lets an instance serve the open call, at first or as one that was restarted. */
  #join: ((id: InstanceId, restart?: { readonly deployed?: string }) => Promise<void>) | undefined;
  readonly #key = randomBytes(32);
  /** The version of the code that serves the call. */
  #version = FIRST;
  /** The arguments of an option's call, in place of the lab's own. */
  #others: OwnCall['arguments'] | undefined;
  #conversation: TranscriptSoFar | undefined;
  #asked: Asked | undefined;
  /** Answers the latest question. */
  #reply: (reply: Reply) => void = () => {};
  #fault = STRAIGHT;
  #doing: SideState['doing'] = 'off';
  #problem: string | undefined;
  #isAbandoned = false;
  /** Whether a program has answered every question of the call. */
  #isAgent: boolean | undefined;
  #call: Promise<void> = Promise.resolve();

  constructor({ database, postgres, own }: Means, setUp: SetUp, changed: () => void) {
    this.#database = database;
    this.#postgres = postgres;
    this.#own = own;
    this.#setUp = setUp;
    this.#changed = changed;
  }

  get state(): SideState {
    const conversation = this.#conversation ?? this.#emptyConversation;
    return {
      offered: OFFERED,
      own: this.#own?.state,
      setUp: this.#setUp,
      doing: this.#doing,
      instances: INSTANCE_IDS.map((id) => ({ id, alive: this.#isAlive(id) })),
      conversation,
      asked: this.#asked,
      fault: this.#fault,
      insides: this.#served ? {} : insides(conversation.events, this.#called, this.#key),
      problem: this.#problem,
    };
  }

  /** The server of the user's own, if the side serves it. */
  get #served(): OwnServer | undefined {
    return this.#setUp.option === OWN ? this.#own : undefined;
  }

  async start(): Promise<void> {
    this.#became('starting');
    try {
      await this.#revive(this.#kept);
      await this.#listTools();
    } finally {
      this.#became('ready');
    }
  }

  /** Lists the tools of the own server, and chooses the first one if none was chosen. */
  async #listTools(): Promise<void> {
    const [server, instance] = [this.#served, this.#instances.i1];
    if (!server || !instance || !isOwn(instance) || server.tools.length > 0) return;
    try {
      server.tools = await listTools(instance.fetch, this.#setUp.client === 'legacy');
    } catch (error) {
      const why = (error as Error).message.replace(/^.*(?=The server ended)/s, '');
      const wrote = instance.tail.length > why.length ? ` It wrote:\n${instance.tail}` : '';
      throw new Refused(`The server did not list its tools. ${why}${wrote}`);
    }
    const { own } = this.#setUp;
    const [first] = server.tools;
    if (!own || !first || server.tools.some(({ name }) => name === own.tool)) return;
    this.#setUp = { ...this.#setUp, own: { ...own, tool: first.name } };
    const names = server.tools.map(({ name }) => name).join(', ');
    if (own.tool) throw new Refused(`The server has no tool '${own.tool}'. It has ${names}.`);
  }

  /** Ends its processes. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#instances).map((one) => one.alive && one.kill()));
  }

  /** Ends the call and the processes, until the side is set up again. */
  async turnOff(): Promise<void> {
    await this.#abandon();
    await this.close();
    this.#conversation = undefined;
    this.#became('off');
  }

  /** Chooses another server, tool, client or hosting. Abandons the open call: its user cancels. */
  async setUp(setUp: SetUp): Promise<void> {
    const listed = setUp.option === OWN ? undefined : await this.#optionOf(setUp);
    if (setUp.option === OWN && !this.#own)
      throw new Refused('The lab was opened without a server of your own: pnpm lab --server.');
    const source = setUp.option === OWN ? setUp.own?.source : undefined;
    if (source !== undefined && source !== this.#own?.sourceName && !this.#own?.loaded.has(source))
      throw new Refused(`The server has not loaded '${source}'.`);
    // To cancel would send the user's own server another round.
    if (this.#served && this.#join) await this.close();
    await this.#abandon();
    const before = this.#setUp;
    this.#setUp = setUp;
    if (listed?.needsPostgres) await this.#needPostgres(listed.name, before);
    this.#conversation = undefined;
    this.#fault = STRAIGHT;
    const isOther = (before.option === OWN) !== (setUp.option === OWN);
    // A process on stdio serves clients of one era.
    const isOtherEra = this.#served && (before.client === 'legacy') !== (setUp.client === 'legacy');
    if (isOther || isOtherEra || this.#own?.choose(source) === true) {
      this.#own?.before.clear();
      await this.close();
    }
    await this.start();
  }

  async #optionOf(setUp: SetUp): Promise<ListedOption> {
    const listed = findOption(setUp.option);
    if (!listed) throw new Refused(`There is no option '${setUp.option}'.`);
    if (hasVersions(setUp) && !(await loadOption(listed)).claims.deploys)
      throw new Refused(
        `${listed.name} is not among the shapes that the tool with a version 2 is written in.`,
      );
    return listed;
  }

  /** Opens a database for the side's calls. If that fails, restores the set-up `before`. */
  async #needPostgres(option: string, before: SetUp): Promise<void> {
    if (this.#calls !== undefined) return;
    this.#became('starting');
    try {
      this.#calls = await this.#postgres.database();
    } catch (error) {
      this.#setUp = before;
      this.#became('ready');
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? cause.message : message;
      throw new Refused(`${option} needs a PostgreSQL, and none could be started here: ${why}`);
    }
  }

  /** Makes the call of the set-up, or this one of the own server, or an option's call with other arguments. */
  async call(own = this.#setUp.own, others?: OwnCall['arguments']): Promise<void> {
    if (this.#doing !== 'ready' && this.#doing !== 'over') throw new Refused('A call is going on.');
    if (own) this.#setUp = { ...this.#setUp, own: { ...own, source: this.#setUp.own?.source } };
    this.#others = others;
    await this.#revive(this.#used);
    this.#conversation = undefined;
    this.#became('calling');
    this.#call = this.#makeCall();
  }

  /** Answers the open question, as a person or as a program in a person's place. */
  answer(question: number, reply: Reply, isAgent = false): void {
    if (this.#asked?.id !== question) throw new Refused('That question is not open.');
    this.#asked = undefined;
    this.#isAgent = isAgent && this.#isAgent !== false;
    this.#became('calling');
    this.#reply(reply);
  }

  setFault(fault: Fault): void {
    if (fault.to !== undefined && !this.#used.includes(fault.to))
      throw new Refused(`There is no instance '${fault.to}'.`);
    if (this.#setUp.client === 'legacy' && (fault.deliver !== 'once' || fault.state !== undefined))
      throw new Refused(
        'An old client is asked down the stream of its call: it sends no retry and no state.',
      );
    this.#fault = fault;
    this.#changed();
  }

  /** Kills an instance with SIGKILL. */
  async kill(id: InstanceId): Promise<void> {
    const instance = this.#instances[id];
    if (!instance || !this.#isAlive(id)) throw new Refused(`There is no living instance '${id}'.`);
    if (isOwn(instance) && !instance.isOwned)
      throw new Refused('The lab did not start this server, so it cannot kill it.');
    await instance.kill();
    this.#changed();
  }

  async restart(id: InstanceId): Promise<void> {
    if (this.#isAlive(id)) throw new Refused(`'${id}' is alive.`);
    await this.#startInstance(id);
    if (!this.#join) await this.#listTools();
    else if (this.#used.includes(id)) await this.#join(id, {});
    this.#changed();
  }

  /** Replaces the call's processes by new ones with other code. */
  async deploy(change: Change): Promise<void> {
    if (!hasVersions(this.#setUp)) throw new Refused('This tool has no version 2.');
    if (this.#doing !== 'asked') throw new Refused('Deploy a version while a question is open.');
    if (this.#version !== FIRST)
      throw new Refused('Version 2 runs already. The next call begins on version 1.');
    this.#version = change;
    await Promise.all(this.#used.map((id) => this.#replace(id, change)));
    this.#changed();
  }

  /** The new process serves before the old one ends, as behind any load balancer. */
  async #replace(id: InstanceId, deployed: Change): Promise<void> {
    const old = this.#instances[id] as InstanceProcess;
    await this.#startInstance(id);
    await this.#join?.(id, { deployed });
    if (old.alive) await old.stop();
  }

  get #used(): readonly InstanceId[] {
    return this.#setUp.instances === 'one' ? INSTANCE_IDS.slice(0, 1) : INSTANCE_IDS;
  }

  #became(doing: SideState['doing']): void {
    this.#doing = doing;
    this.#problem = undefined;
    this.#changed();
  }

  /** Shows why something was refused, or failed. */
  fail(error: unknown): void {
    this.#problem = error instanceof Refused ? error.message : `That failed: ${String(error)}`;
    this.#changed();
  }

  /** The processes that run between calls. One command after another starts an option's only when it is used. */
  get #kept(): readonly InstanceId[] {
    return this.#served ? this.#used : INSTANCE_IDS;
  }

  async #startInstance(id: InstanceId): Promise<void> {
    const server = this.#served;
    this.#instances[id] = await (server ? startOwn(server) : startInstance(this.#database));
  }

  #isAlive(id: InstanceId): boolean {
    return this.#instances[id]?.alive === true;
  }

  async #revive(ids: readonly InstanceId[]): Promise<void> {
    await Promise.all(ids.filter((id) => !this.#isAlive(id)).map((id) => this.#startInstance(id)));
  }

  /** Cancels the open question, and every later one of the call. */
  async #abandon(): Promise<void> {
    this.#isAbandoned = true;
    this.#reply({ action: 'cancel' });
    this.#asked = undefined;
    // If cancelling does not end the call, because its instance hangs, end its instances.
    const hangs = setTimeout(() => this.close(), ABANDON_MS);
    await this.#call;
    clearTimeout(hangs);
    this.#isAbandoned = false;
  }

  get #called(): OwnCall {
    const { tool, own = { tool: '', arguments: {} } } = this.#setUp;
    return this.#served ? own : { ...CALLS[tool], ...(this.#others && { arguments: this.#others }) };
  }

  /** The call of the current set-up. */
  get #request() {
    const { client } = this.#setUp;
    const { tool, arguments: given } = this.#called;
    const user = Object.assign((question: ShownQuestion) => this.#ask(question), {
      maySayNothing: true,
      ...(this.#isAgent && { isAgent: true }),
    });
    return {
      client: client === 'legacy' ? 'legacy' : 'modern',
      call: toolCall(tool, given),
      ...(client !== 'unaskable' && { user }),
    } as const;
  }

  get #emptyConversation(): TranscriptSoFar {
    const { option, own } = this.#setUp;
    const listed = findOption(option);
    const title = listed ? `${listed.name} · ${listed.title}` : (own?.tool ?? '');
    const request = this.#request;
    const participants = participantsOf(request, request.client, this.#used);
    const empty = { format: 'mrtr-transcript', version: 1, title, participants, events: [] } as const;
    // The effects of the user's own server are not seen.
    return this.#served ? empty : withWorld(empty);
  }

  async #makeCall(): Promise<void> {
    this.#isAgent = undefined;
    const events: TranscriptEvent[] = [];
    const onEvent = (event: TranscriptEvent) => {
      if (events.length === MAX_EVENTS) void this.close();
      if (events.length > MAX_EVENTS) return;
      events.push(event);
      this.#conversation = { ...this.#emptyConversation, events };
      this.#changed();
    };
    const { end } = await converse({ ...this.#request, onEvent }, this.#host);
    this.#conversation = { ...this.#emptyConversation, events, end };
    this.#asked = undefined;
    this.#became('over');
  }

  #ask({ message, requestedSchema }: ShownQuestion): Promise<Reply> {
    if (this.#isAbandoned) return Promise.resolve({ action: 'cancel' });
    const questions = this.#conversation?.events.filter(({ kind }) => kind === 'question').length ?? 1;
    this.#served?.hasAsked(this.#called.tool);
    return new Promise((reply) => {
      this.#asked = { id: questions, message, schema: requestedSchema };
      this.#reply = reply;
      this.#became('asked');
    });
  }

  readonly #host = async (recorder: Recorder): Promise<Hosting> => {
    const world = recordedWorld(recorder);
    const fleet = processFleet<Running>(this.#database, { world, recorder }, () => this.#fault.to);
    const lines = callLines(
      recorder,
      (line) => this.#own?.before.has(line) === true,
      (file) => this.#own?.find(file),
    );
    this.#version = FIRST;
    this.#join = (id, restart) => {
      const instance = this.#instances[id] as Running;
      const connect = (place: InstanceAddress) =>
        isOwn(instance) ? instance.connect(lines, place.instance) : instance.open(place, this.#opening);
      return fleet.open(id, instance, connect, restart);
    };
    for (const id of this.#used) await this.#join(id);
    const { fetch, ...endpoint } = fleet.endpoint();
    const probe = this.#served?.options.probe;
    const send = probe ? watchProbe(probe, fetch, recorder) : fetch;
    return {
      instances: this.#used,
      endpoint: () => ({ ...endpoint, fetch: network(send, recorder, () => this.#takeFault()) }),
      framesHeld: fleet.framesHeld,
      close: async () => {
        this.#join = undefined;
        await fleet.close();
      },
    };
  };

  /** How the processes serve the call of an option. */
  get #opening(): Opening {
    const { option, instances, singleUse, legacy = 'shim' } = this.#setUp;
    const listed = findOption(option) as ListedOption;
    return {
      ...(hasVersions(this.#setUp) ? versionOf(listed, this.#version) : { module: addressOf(listed) }),
      ...(listed.needsPostgres && { postgres: this.#calls }),
      key: this.#key.toString('base64'),
      legacy,
      serve: instances === 'one' ? 'sessions' : 'stateless',
      singleUse: singleUse ? 'shared' : false,
      countLines: true,
    };
  }

  /** Takes the fault of this request; the next one has none. The chosen instance stays. */
  #takeFault(): Fault {
    const fault = this.#fault;
    this.#fault = { deliver: 'once', to: fault.to };
    return fault;
  }
}

const ABANDON_MS = 3000;

/** A server that goes on after so many events is killed. */
const MAX_EVENTS = 2000;

/** Every call begins on version 1. */
const FIRST: Change = 'nothing';

const hasVersions = ({ option, tool }: SetUp): boolean => option !== OWN && tool === 'order';
