/** One logical call, made request by request, with honest or altered retries. */
import type { Happening, TranscriptEvent } from '@mrtr/harness/transcript';
import type { Instance } from '../target/instance.ts';
import { METHOD, type Operation, type Principal, paramsOf } from '../target/target.ts';
import { asObject, type JsonObject, mapMembers } from '../wire/json.ts';
import { type Asked, outcomeOf, type ReplyOutcome } from '../wire/outcome.ts';
import type { ServerReply } from '../wire/reply.ts';
import { mirroredArguments, type WireRequest } from '../wire/request.ts';

/** A request of a call, and its reply. */
export interface Turn {
  readonly request: WireRequest;
  readonly reply: ServerReply;
  readonly outcome: ReplyOutcome;
  readonly url: URL | undefined;
  readonly principal: Principal;
  /** The id of the instance. */
  readonly instance: string;
  /** The time at which it was sent, by `performance.now()`. */
  readonly at: number;
}

/** Sends a request. */
export async function makeTurn(
  instance: Instance,
  request: WireRequest,
  principal: Principal = 'own',
): Promise<Turn> {
  const at = performance.now();
  const reply = await instance.channel(principal).send(request);
  // An old call is no single request.
  const url = instance.isOld ? undefined : instance.url;
  return { request, reply, outcome: outcomeOf(reply), url, principal, instance: instance.id, at };
}

/** A turn, or an event beside the turns. */
type Moment = Turn | TranscriptEvent;

export interface SessionOptions {
  readonly instance?: Instance;
  readonly principal?: Principal;
  readonly operation?: Operation;
  readonly capabilities?: JsonObject | undefined;
  /** The arguments that are new in this call. */
  readonly varied?: JsonObject;
}

/** Answers the questions of a call. */
interface Answering {
  responses(requests: Asked): JsonObject;
  /** Receives the questions before {@link responses}. */
  learn(requests: Asked): Promise<void>;
}

export interface SessionContext {
  readonly instance: Instance;
  readonly operation: Operation;
  readonly answerer: Answering;
  schemaOf(operation: Operation): unknown;
  record(turn: Turn, session?: Session): void;
}

export const MAX_ROUNDS = 12;

type DeliveryOptions = Pick<WireRequest, 'cut'>;

/** The members of a retry. Absent ones are not sent. */
export interface Retry {
  readonly inputResponses?: unknown;
  readonly requestState?: unknown;
}

export class Session {
  instance: Instance;
  principal: Principal;
  operation: Operation;
  readonly title: string;
  /** The whole call, in order. */
  readonly moments: Moment[] = [];
  /** The request that a finding is about, if that is not the last one. */
  decisive: Turn | undefined;
  readonly #context: SessionContext;
  readonly capabilities: JsonObject | undefined;
  readonly varied: JsonObject;

  constructor(
    context: SessionContext,
    { instance, principal, operation, capabilities, varied = {} }: SessionOptions = {},
  ) {
    this.#context = context;
    this.instance = instance ?? context.instance;
    this.principal = principal ?? 'own';
    this.operation = operation ?? context.operation;
    this.capabilities = capabilities;
    this.varied = varied;
    this.title = `${METHOD[this.operation.kind]} ${this.operation.name}`;
  }

  /** Returns a copy that continues the call, and leaves this one unchanged. */
  fork(): Session {
    const fork = new Session(this.#context, this);
    fork.moments.push(...this.moments);
    return fork;
  }

  get isOld() {
    return this.instance.isOld;
  }

  get turns() {
    return this.moments.filter((one) => 'request' in one);
  }

  get lastTurn() {
    return this.turns.at(-1);
  }

  get last() {
    return this.lastTurn?.outcome;
  }

  /** The request that a finding is about. */
  get turn() {
    return this.decisive ?? this.lastTurn;
  }

  /** What the server asked, round by round. */
  get questions() {
    return this.turns.map(({ outcome }) => outcome).filter((outcome) => outcome.kind === 'asked');
  }

  get asked() {
    return this.questions.at(-1)?.requests ?? {};
  }

  get state() {
    return this.questions.at(-1)?.state;
  }

  answers() {
    return this.#context.answerer.responses(this.asked);
  }

  mapAnswers(change: (honest: JsonObject, request: JsonObject, key: string) => unknown) {
    const { asked } = this;
    return mapMembers(this.answers(), (honest, key) => change(asObject(honest), asObject(asked[key]), key));
  }

  refusals(action: 'decline' | 'cancel') {
    return this.mapAnswers(() => ({ action }));
  }

  /** Sends the first request, with the members of `extra` added. */
  first(extra: JsonObject = {}) {
    return this.send({ ...paramsOf(this.operation), ...extra });
  }

  /** Sends the honest retry with `changes` applied. A change to undefined removes the member. */
  retry(changes: Retry = {}, options: DeliveryOptions = {}) {
    const merged = mapMembers({ ...this.honestRetry(), ...changes }, (value) => value);
    return this.send({ ...paramsOf(this.operation), ...merged }, options);
  }

  honestRetry() {
    const responses = this.answers();
    return {
      ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
      ...(this.state !== undefined && { requestState: this.state }),
    };
  }

  async send(params: JsonObject, options: DeliveryOptions = {}) {
    const schema = this.#context.schemaOf(this.operation);
    const request: WireRequest = {
      method: METHOD[this.operation.kind],
      params,
      capabilities: this.capabilities,
      mirrored: mirroredArguments(schema, params.arguments),
      ...options,
    };
    const turn = await makeTurn(this.instance, request, this.principal);
    this.moments.push(turn);
    this.#context.record(turn, this);
    if (turn.outcome.kind === 'asked') await this.#context.answerer.learn(turn.outcome.requests);
    return turn.outcome;
  }

  /** Records an event beside the turns. */
  record(happening: Happening) {
    this.moments.push({ ...happening, at: performance.now() });
  }

  /** Marks the last effect as one that the approval had before, so that drawings show it as a broken promise. */
  markRepeated() {
    const at = this.moments.findLastIndex((one) => 'kind' in one && one.kind === 'effect');
    this.moments[at] = { ...(this.moments[at] as Effect), again: true };
  }

  /**
   * Answers until the server stops asking, with honest retries to which `changes` is applied. Begins the call if it has
   * not begun.
   */
  async finish(most = MAX_ROUNDS, changes?: (session: Session) => Promise<Retry> | Retry) {
    let outcome = this.last ?? (await this.first());
    for (let round = 0; outcome.kind === 'asked' && round < most; round++)
      outcome = await this.retry(await changes?.(this));
    return outcome;
  }
}

type Effect = Extract<TranscriptEvent, { kind: 'effect' }>;

/** A call as it is shown, or a part of one. */
export interface Evident
  extends Pick<Session, 'title' | 'isOld' | 'moments' | 'last'>,
    Partial<Pick<Session, 'turn' | 'asked'>> {
  /** The id of the check that made the call, if another one reads its messages. */
  readonly during?: string | undefined;
}

/** The check has no verdict: a control failed, or something could not be answered or read. */
export class Undecided extends Error {
  readonly session: Evident | undefined;

  constructor(message: string, session?: Evident) {
    super(message);
    this.session = session;
  }
}

/** Ends the check if the server did not answer `what`. @throws Undecided */
export function requireAnswer(outcome: ReplyOutcome, what?: string, session?: Evident) {
  if (outcome.kind !== 'failed') return;
  throw new Undecided(what ? `${what} got no answer: ${outcome}` : outcome.reason, session);
}
