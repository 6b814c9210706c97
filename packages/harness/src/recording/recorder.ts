/** Records the events of one conversation. Several conversations may run in this process at once. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  CLIENT,
  type Happening,
  type Message,
  PERSON,
  type TranscriptEvent,
  type WireMessage,
} from '../transcript/transcript.ts';
import { type Diagnostic, observeDiagnostics } from './diagnostics.ts';
import type { Traced } from './line-trace.ts';

// Diagnostics channels are process-wide. The asynchronous context of an event names its conversation and its instance. The
// context is shared by all copies of this package: a test may import one, and the tested server require another.
const SHARED = Symbol.for('mrtr.recorders');
const holder = globalThis as { [SHARED]?: ReturnType<typeof noRecorders> };
holder[SHARED] ??= noRecorders();
const shared = holder[SHARED];
const { current, instance } = shared;

function noRecorders() {
  return {
    current: new AsyncLocalStorage<Recorder>(),
    instance: new AsyncLocalStorage<string>(),
    running: 0,
    stopObserving: () => {},
  };
}

/** The recorder of the current conversation, if any. */
export const currentRecorder = (): Recorder | undefined => current.getStore();

/** Runs `work` as one of several instances in this process. Its events name the instance. */
export const inInstance = <T>(id: string, work: () => T): T => instance.run(id, work);

/**
 * Records an effect in the transcript of the current conversation, for example from a test's fake database. Does nothing
 * without a conversation.
 *
 * @example
 * const orders = { place: async (item: string) => recordEffect('order', item) };
 */
export const recordEffect = (name: string, detail: string): void =>
  currentRecorder()?.record({ kind: 'effect', name, detail });

/**
 * Records a visit of the person's browser in the transcript of the current conversation.
 *
 * @example
 * const response = await fetch(url, { redirect: 'manual' });
 * recordVisit(url, response.status);
 */
export const recordVisit = (url: string, status: number): void =>
  currentRecorder()?.record({ kind: 'visit', from: PERSON, url, status });

/** The watched parts of a transport, equal in v1 and v2. */
interface AnyTransport {
  send(message: unknown, options?: unknown): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

export interface RecorderOptions {
  /** Called with each event as it happens. */
  readonly onEvent?: ((event: TranscriptEvent) => void) | undefined;
  /** Takes the traced lines since the last call, if this process traces lines (`LineTrace`). */
  readonly takeLines?: (() => Traced | undefined) | undefined;
}

/** A happening. Its `instance` is by default the one in which it is recorded. */
export type RecordedHappening = Happening extends infer One
  ? One extends { readonly instance: string }
    ? Omit<One, 'instance'> & { readonly instance?: string | undefined }
    : One
  : never;

type Unrouted = { -readonly [Key in keyof Message]: Message[Key] } & { readonly at: number };

export class Recorder {
  readonly events: TranscriptEvent[] = [];
  readonly #options: RecorderOptions;
  /** The instance that each of the client's requests reached, by the request's id. */
  readonly #served = new Map<unknown, string>();
  #instances: () => readonly string[] = () => [];
  #latest: string | undefined;
  #announced = 0;
  #startedAt: number | undefined;

  constructor(options: RecorderOptions = {}) {
    this.#options = options;
  }

  /** Observes the diagnostics channels until the returned function is called. */
  observe(): () => void {
    if (shared.running++ === 0)
      shared.stopObserving = observeDiagnostics((event) => currentRecorder()?.recordDiagnostic(event));
    return () => {
      if (--shared.running === 0) shared.stopObserving();
    };
  }

  /** Runs `work`, and records its events here. */
  within<T>(work: () => T): T {
    return current.run(this, work);
  }

  /** Begins to record, after the client has connected. `instances` returns the ids of the server's instances. */
  start(instances: () => readonly string[]): void {
    this.#instances = instances;
    this.#options.takeLines?.();
    this.#startedAt = performance.now();
  }

  /** Stops recording, before the client closes. */
  stop(): void {
    this.#recordLines();
    this.#startedAt = undefined;
    this.#announce(true);
  }

  /** Records a happening with the current time. */
  record(happening: RecordedHappening): void {
    if (this.#startedAt === undefined) return;
    const { kind } = happening;
    if (ENDS_A_STRETCH.has(kind)) this.#recordLines();
    const at = Math.round((performance.now() - this.#startedAt) * 10) / 10;
    const where = INSIDE.has(kind) && {
      instance: ('instance' in happening && happening.instance) || this.#here(),
    };
    this.events.push({ at, ...happening, ...where } as TranscriptEvent);
    this.#announce();
  }

  #recordLines() {
    const ran = this.#startedAt === undefined ? undefined : this.#options.takeLines?.();
    if (ran) this.record({ kind: 'lines', instance: this.#latest, ...ran });
  }

  /** Records a diagnostic of this process, or of instance `from` in another one. */
  recordDiagnostic(diagnostic: Diagnostic, from?: string): void {
    const { channel, event } = diagnostic;
    if (channel === 'mrtr:handler') {
      const { part = 'handler', name } = event;
      this.record({ kind: 'entry', instance: from, part, ...(name !== undefined && { name }) });
    } else if (channel === 'mrtr:effect') {
      this.record({ kind: 'guard', instance: from, key: event.key, phase: event.phase });
    } else if (channel === 'mrtr:state') {
      this.record({ kind: 'state', instance: from, phase: event.phase, bytes: event.bytes });
    } else if (channel === 'mrtr:rejection') {
      const { reason, detail = reason, bytes } = event;
      if (bytes !== undefined)
        this.record({ kind: 'state', instance: from, phase: 'rejected', bytes, reason: detail });
    } else this.record({ kind: 'lines', instance: from, ...event });
  }

  /** Records that a message of the client reached the instance `to`. */
  recordRoute(to: string, body: string): void {
    this.#latest = to;
    const { id, method } = parse(body);
    if (id !== undefined && method !== undefined) this.#served.set(id, to);
    const event = this.#findSent({ id, method });
    if (event) event.to ??= to;
    this.#announce();
  }

  /** Records that an attacker on the network replaced the client's `body` by `message`. */
  recordAltered(body: string, message: WireMessage): void {
    const event = this.#findSent(parse(body));
    if (event) {
      Object.assign(event, { lost: true, replaced: true });
      delete event.to;
    }
    this.record({ kind: 'message', from: CLIENT, message, altered: true });
  }

  /** The latest event with this message of the client. */
  #findSent({ id, method }: WireMessage): Unrouted | undefined {
    return this.events.findLast(
      (one): one is Unrouted =>
        one.kind === 'message' &&
        one.from === CLIENT &&
        one.message.id === id &&
        one.message.method === method,
    );
  }

  /** Watches a client's transport, both ways. */
  watch<T extends AnyTransport>(transport: T): T {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      // Record it before the send: over HTTP, the answer arrives before `send` returns.
      const event = this.#recordRequest(message as WireMessage);
      try {
        await send(message, options);
      } catch (error) {
        // A request that reached its server is not lost; its answer is. Nor is one that the end of the call cut off.
        const isServed = this.#served.has((message as WireMessage).id);
        if (event && this.#startedAt !== undefined && !isServed) event.lost = true;
        throw error;
      }
    };
    let receive: AnyTransport['onmessage'];
    Object.defineProperty(transport, 'onmessage', {
      configurable: true,
      get: () => receive,
      set: (listener: ((message: unknown, extra?: unknown) => void) | undefined) => {
        receive =
          listener &&
          ((message: unknown, extra?: unknown) => {
            this.#recordResponse(message as WireMessage);
            listener(message, extra);
          });
      },
    });
    return transport;
  }

  #recordRequest(message: WireMessage): Unrouted | undefined {
    const [to, ...others] = this.#instances();
    const isKnown = others.length === 0 && to !== undefined;
    this.record({ kind: 'message', from: CLIENT, ...(isKnown && { to }), message });
    const event = this.events.at(-1);
    return event?.kind === 'message' && event.message === message ? event : undefined;
  }

  #recordResponse(message: WireMessage) {
    const from = (message.method === undefined && this.#served.get(message.id)) || this.#here();
    this.record({ kind: 'message', from, to: CLIENT, message });
  }

  /** The instance of the current context, otherwise the one that the latest message reached. */
  #here() {
    return instance.getStore() ?? this.#latest ?? this.#instances()[0] ?? 'server';
  }

  /** Emits events to the listener. A message waits until its instance is known, or the next event comes. */
  #announce(all = false) {
    while (this.#announced < this.events.length) {
      const event = this.events[this.#announced] as TranscriptEvent;
      const unrouted = event.kind === 'message' && event.to === undefined && !event.lost;
      if (unrouted && !all && this.#announced === this.events.length - 1) return;
      this.#announced++;
      this.#options.onEvent?.(event);
    }
  }
}

/** The happenings inside an instance. */
const INSIDE = new Set<Happening['kind']>(['entry', 'lines', 'guard', 'effect', 'state', 'kill', 'restart']);

/** Lines that ran before one of these happenings belong to the happening before it. */
const ENDS_A_STRETCH = new Set<Happening['kind']>([
  'message',
  'entry',
  'effect',
  'question',
  'model',
  'roots',
]);

function parse(body: string) {
  try {
    return JSON.parse(body) as WireMessage;
  } catch {
    return {};
  }
}
