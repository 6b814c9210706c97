/** One side of the lab: a shape, served by real processes, and a real client whose user is a person at the page. */
import { randomBytes } from 'node:crypto';
import { recordedWorld, withWorld } from '@mrtr/comparison/calls';
import type { Change } from '@mrtr/comparison/claims';
import { addressOf, findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { converse, type Hosting, type Reply, type ShownQuestion } from '@mrtr/harness';
import { participantsOf, type Recorder } from '@mrtr/harness/internal';
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import { versionOf } from '@mrtr/matrix/deploy';
import { type Database, InstanceProcess, type Opening, ProcessFleet } from '@mrtr/matrix/processes';
import { CALLS, insides } from './insides.ts';
import { network } from './network.ts';
import { OFFERED } from './offered.ts';
import type { Postgres } from './postgres.ts';
import type { Asked, Fault, SideState, TranscriptSoFar } from './protocol.ts';
import { INSTANCE_IDS, type InstanceId, type SetUp } from './set-up.ts';

const STRAIGHT: Fault = { deliver: 'once' };

export class Refused extends Error {}

/** One of the two sides. Calls `changed` whenever its state changes. */
export class Pane {
  readonly #database: Database;
  readonly #postgres: Postgres;
  /** The connection string of the database that holds calls, for an option that needs one. */
  #calls: string | undefined;
  readonly #changed: () => void;
  #setUp: SetUp;
  readonly #instances: Partial<Record<InstanceId, InstanceProcess>> = {};
  #fleet: ProcessFleet | undefined;
  #key = randomBytes(32);
  #opening: Opening | undefined;
  #conversation: TranscriptSoFar | undefined;
  #asked: Asked | undefined;
  /** Answers the latest question. */
  #reply: (reply: Reply) => void = () => {};
  #fault = STRAIGHT;
  #doing: SideState['doing'] = 'starting';
  #problem: string | undefined;
  #isAbandoned = false;
  #call: Promise<void> = Promise.resolve();

  constructor(database: Database, postgres: Postgres, setUp: SetUp, changed: () => void) {
    this.#database = database;
    this.#postgres = postgres;
    this.#setUp = setUp;
    this.#changed = changed;
  }

  get state(): SideState {
    const conversation = this.#conversation ?? this.#emptyConversation;
    return {
      offered: OFFERED,
      setUp: this.#setUp,
      doing: this.#doing,
      instances: INSTANCE_IDS.map((id) => ({ id, alive: this.#isAlive(id) })),
      conversation,
      asked: this.#asked,
      fault: this.#fault,
      insides: insides(conversation.events, this.#setUp.tool, this.#key),
      problem: this.#problem,
    };
  }

  async start(): Promise<void> {
    await Promise.all(INSTANCE_IDS.map((id) => this.#startInstance(id)));
    this.#became('ready');
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#instances).map((one) => one.alive && one.kill()));
  }

  /** Chooses another shape, tool, client or hosting. Abandons the open call: its user cancels. */
  async setUp(setUp: SetUp): Promise<void> {
    const listed = findOption(setUp.option);
    if (!listed) throw new Refused(`There is no option '${setUp.option}'.`);
    if (hasVersions(setUp) && !(await loadOption(listed)).claims.deploys)
      throw new Refused(
        `${listed.name} is not among the shapes that the tool with a version 2 is written in.`,
      );
    await this.#abandon();
    const before = this.#setUp;
    this.#setUp = setUp;
    if (listed.needsPostgres) await this.#needPostgres(listed.name, before);
    this.#conversation = undefined;
    this.#fault = STRAIGHT;
    await this.#revive(INSTANCE_IDS);
    this.#became('ready');
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

  async call(): Promise<void> {
    if (this.#doing !== 'ready' && this.#doing !== 'over') throw new Refused('A call is going on.');
    await this.#revive(this.#used);
    this.#conversation = undefined;
    this.#became('calling');
    this.#call = this.#makeCall();
  }

  answer(question: number, reply: Reply): void {
    if (this.#asked?.id !== question) throw new Refused('That question is not open.');
    this.#asked = undefined;
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
    if (!this.#isAlive(id)) throw new Refused(`There is no living instance '${id}'.`);
    await this.#instances[id]?.kill();
    this.#changed();
  }

  async restart(id: InstanceId): Promise<void> {
    if (this.#isAlive(id)) throw new Refused(`'${id}' is alive.`);
    const instance = await this.#startInstance(id);
    if (this.#opening && this.#used.includes(id)) await this.#fleet?.open(id, instance, this.#opening, {});
    this.#changed();
  }

  /** Replaces the call's processes by new ones with other code. */
  async deploy(change: Change): Promise<void> {
    const [opening, option] = [this.#opening, { id: this.#setUp.option }];
    if (!hasVersions(this.#setUp)) throw new Refused('This tool has no version 2.');
    if (this.#doing !== 'asked' || !opening) throw new Refused('Deploy a version while a question is open.');
    if (opening.module !== versionOf(option, FIRST).module)
      throw new Refused('Version 2 runs already. The next call begins on version 1.');
    const next = { ...opening, ...versionOf(option, change) };
    this.#opening = next;
    await Promise.all(this.#used.map((id) => this.#replace(id, next, change)));
    this.#changed();
  }

  /** The new process serves before the old one ends, as behind any load balancer. */
  async #replace(id: InstanceId, opening: Opening, deployed: Change): Promise<void> {
    const old = this.#instances[id];
    await this.#fleet?.open(id, await this.#startInstance(id), opening, { deployed });
    if (old?.alive) await old.stop();
  }

  get #used(): readonly InstanceId[] {
    return this.#setUp.instances === 'one' ? INSTANCE_IDS.slice(0, 1) : INSTANCE_IDS;
  }

  #became(doing: SideState['doing']): void {
    this.#doing = doing;
    this.#problem = undefined;
    this.#changed();
  }

  refuse(problem: string): void {
    this.#problem = problem;
    this.#changed();
  }

  async #startInstance(id: InstanceId): Promise<InstanceProcess> {
    const instance = await InstanceProcess.start(this.#database);
    this.#instances[id] = instance;
    return instance;
  }

  #isAlive(id: InstanceId): boolean {
    return this.#instances[id]?.alive === true;
  }

  async #revive(ids: readonly InstanceId[]): Promise<void> {
    for (const id of ids) if (!this.#isAlive(id)) await this.#startInstance(id);
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

  /** The call of the current set-up. */
  get #request() {
    const { tool, client } = this.#setUp;
    const user = Object.assign((question: ShownQuestion) => this.#ask(question), { maySayNothing: true });
    return {
      client: client === 'legacy' ? 'legacy' : 'modern',
      call: CALLS[tool],
      ...(client !== 'unaskable' && { user }),
    } as const;
  }

  get #emptyConversation(): TranscriptSoFar {
    const listed = findOption(this.#setUp.option);
    const title = `${listed?.name} · ${listed?.title}`;
    const request = this.#request;
    const participants = participantsOf(request, request.client, this.#used);
    return withWorld({ format: 'mrtr-transcript', version: 1, title, participants, events: [] });
  }

  async #makeCall(): Promise<void> {
    const begun = this.#emptyConversation;
    const events: TranscriptEvent[] = [];
    const onEvent = (event: TranscriptEvent) => {
      events.push(event);
      this.#conversation = { ...begun, events };
      this.#changed();
    };
    const { end } = await converse({ ...this.#request, onEvent }, this.#host);
    this.#conversation = { ...begun, events, end };
    this.#asked = undefined;
    this.#became('over');
  }

  #ask({ message, requestedSchema }: ShownQuestion): Promise<Reply> {
    if (this.#isAbandoned) return Promise.resolve({ action: 'cancel' });
    const questions = this.#conversation?.events.filter(({ kind }) => kind === 'question').length ?? 1;
    return new Promise((reply) => {
      this.#asked = { id: questions, message, schema: requestedSchema };
      this.#reply = reply;
      this.#became('asked');
    });
  }

  readonly #host = async (recorder: Recorder): Promise<Hosting> => {
    const { option, instances, singleUse } = this.#setUp;
    this.#key = randomBytes(32);
    const listed = findOption(option) as ListedOption;
    const fleet = new ProcessFleet(
      this.#database,
      { world: recordedWorld(recorder), recorder },
      () => this.#fault.to,
    );
    const opening = {
      ...(hasVersions(this.#setUp) ? versionOf(listed, FIRST) : { module: addressOf(listed) }),
      ...(listed.needsPostgres && { postgres: this.#calls }),
      key: this.#key.toString('base64'),
      legacy: 'shim',
      serve: instances === 'one' ? 'sessions' : 'stateless',
      singleUse: singleUse ? 'shared' : false,
      countLines: true,
    } as const;
    this.#opening = opening;
    this.#fleet = fleet;
    const open = (id: InstanceId) => fleet.open(id, this.#instances[id] as InstanceProcess, opening);
    await Promise.all(this.#used.map(open));
    const { fetch, ...endpoint } = fleet.endpoint();
    return {
      instances: this.#used,
      endpoint: () => ({ ...endpoint, fetch: network(fetch, recorder, () => this.#takeFault()) }),
      framesHeld: fleet.framesHeld,
      close: async () => {
        this.#opening = undefined;
        await fleet.close();
      },
    };
  };

  /** Takes the fault of this request; the next one has none. The chosen instance stays. */
  #takeFault(): Fault {
    const fault = this.#fault;
    this.#fault = { deliver: 'once', to: fault.to };
    return fault;
  }
}

const ABANDON_MS = 3000;

/** Every call begins on version 1. */
const FIRST: Change = 'nothing';

const hasVersions = ({ tool }: SetUp): boolean => tool === 'order';
