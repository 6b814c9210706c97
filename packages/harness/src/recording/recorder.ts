/** Records the events of one conversation, also where several conversations run in this process at once. */
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

// Diagnostics channels are process-wide. An event belongs to the conversation, and to the instance, in whose
// asynchronous context it was published; one context for the process, also where a test imports this package and the
// tested server requires it.
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

/** The recorder of the conversation that this code runs in, if any. */
export const currentRecorder = (): Recorder | undefined => current.getStore();

/** Runs `work` as part of one of several instances in this process: events in it name the instance. */
export const inInstance = <T>(id: string, work: () => T): T => instance.run(id, work);

/**
 * Records an effect in the transcript of the conversation that this code runs in. For the fakes that a tool writes to
 * in a test. Without a conversation it does nothing.
 *
 * @example
 * const orders = { place: async (item: string) => recordEffect('order', item) };
 */
export const recordEffect = (name: string, detail: string): void =>
  currentRecorder()?.record({ kind: 'effect', name, detail });

/**
 * Records that the person's browser visited a page, in the transcript of the conversation that this code runs in.
 *
 * @example
 * const response = await fetch(url, { redirect: 'manual' });
 * recordVisit(url, response.status);
 */
export const recordVisit = (url: string, status: number): void =>
  currentRecorder()?.record({ kind: 'visit', from: PERSON, url, status });

/** The parts of a transport that are watched. v1's and v2's transports have them alike. */
interface AnyTransport {
  send(message: unknown, options?: unknown): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** How a recorder works. */
export interface RecorderOptions {
  /** Called with each event as it happens. */
  readonly onEvent?: ((event: TranscriptEvent) => void) | undefined;
  /** The clock, in milliseconds. Default `performance.now`. */
  readonly now?: (() => number) | undefined;
  /** Takes the lines that ran since the last take, where they are traced in this process (`LineTrace`). */
  readonly takeLines?: (() => Traced | undefined) | undefined;
}

/** A happening whose `instance` may be left out: it is the one in which it happened. */
export type RecordedHappening = Happening extends infer One
  ? One extends { readonly instance: string }
    ? Omit<One, 'instance'> & { readonly instance?: string | undefined }
    : One
  : never;

type Unrouted = { -readonly [Key in keyof Message]: Message[Key] } & { readonly at: number };

/** Records one conversation. */
export class Recorder {
  readonly events: TranscriptEvent[] = [];
  readonly #options: RecorderOptions;
  /** The instance that each request of the client reached, by the request's id. */
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

  /** Runs `work` with everything in it recorded here. */
  within<T>(work: () => T): T {
    return current.run(this, work);
  }

  /** Begins to record: connecting the client is not part of the call. `instances` gives the ids of the server's. */
  start(instances: () => readonly string[]): void {
    this.#instances = instances;
    this.#options.takeLines?.();
    this.#startedAt = this.#now();
  }

  /** Ends it: closing the client is not part of the call either. */
  stop(): void {
    this.#recordLines();
    this.#startedAt = undefined;
    this.#announce(true);
  }

  /** Records a happening, now. */
  record(happening: RecordedHappening): void {
    if (this.#startedAt === undefined) return;
    const { kind } = happening;
    if (ENDS_A_STRETCH.has(kind)) this.#recordLines();
    const at = Math.round((this.#now() - this.#startedAt) * 10) / 10;
    const where = INSIDE.has(kind) && {
      instance: ('instance' in happening && happening.instance) || this.#here(),
    };
    this.events.push({ at, ...happening, ...where } as TranscriptEvent);
    this.#announce();
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now();
  }

  #recordLines(): void {
    const ran = this.#startedAt === undefined ? undefined : this.#options.takeLines?.();
    if (ran) this.record({ kind: 'lines', instance: this.#latest, ...ran });
  }

  /** Records a diagnostic that was published in this process, or by instance `from` in another one. */
  recordDiagnostic(diagnostic: Diagnostic, from?: string): void {
    const { channel, event } = diagnostic;
    if (channel === 'mrtr:handler') {
      const { part = 'handler', name } = event;
      this.record({ kind: 'entry', instance: from, part, ...(name !== undefined && { name }) });
    } else if (channel === 'mrtr:effect') {
      this.record({ kind: 'guard', instance: from, key: event.key, phase: event.phase });
    } else if (channel === 'mrtr:state') {
      const { phase, bytes, reason } = event;
      this.record({ kind: 'state', instance: from, phase, bytes, ...(reason !== undefined && { reason }) });
    } else this.record({ kind: 'lines', instance: from, ...event });
  }

  /** A message of the client reached one of the instances. */
  recordRoute(to: string, body: string): void {
    this.#latest = to;
    const { id, method } = parse(body);
    if (id !== undefined && method !== undefined) this.#served.set(id, to);
    const event = this.#findUnrouted(id, method);
    if (event) event.to ??= to;
    this.#announce();
  }

  /** Somebody on the way keeps the client's `body` back, and sends `message` in its place. */
  recordAltered(body: string, message: WireMessage): void {
    const { id, method } = parse(body);
    const event = this.#findUnrouted(id, method);
    if (event) {
      event.lost = true;
      event.replaced = true;
      delete event.to;
    }
    this.record({ kind: 'message', from: CLIENT, message, altered: true });
  }

  #findUnrouted(id: unknown, method: unknown): Unrouted | undefined {
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
      // Recorded before the send: over HTTP the answer arrives before the send returns.
      const event = this.#recordRequest(message as WireMessage);
      try {
        await send(message, options);
      } catch (error) {
        // A request that has reached its server is not lost: its answer is. So it is when the call is over, and closes.
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
    const [sole, ...others] = this.#instances();
    const known = others.length === 0 && sole !== undefined && { to: sole };
    this.record({ kind: 'message', from: CLIENT, ...known, message });
    const event = this.events.at(-1);
    return event?.kind === 'message' && event.message === message ? event : undefined;
  }

  #recordResponse(message: WireMessage): void {
    const from = (message.method === undefined && this.#served.get(message.id)) || this.#here();
    this.record({ kind: 'message', from, to: CLIENT, message });
  }

  /** The instance in whose context we are; else the one that the latest message reached. */
  #here(): string {
    return instance.getStore() ?? this.#latest ?? this.#instances()[0] ?? 'server';
  }

  /** Tells the listener. A message waits until it is known which instance it reached, or something else happens. */
  #announce(all = false): void {
    while (this.#announced < this.events.length) {
      const event = this.events[this.#announced] as TranscriptEvent;
      const unrouted = event.kind === 'message' && event.to === undefined && !event.lost;
      if (unrouted && !all && this.#announced === this.events.length - 1) return;
      this.#announced++;
      this.#options.onEvent?.(event);
    }
  }
}

/** What happens inside an instance. */
const INSIDE = new Set<Happening['kind']>(['entry', 'lines', 'guard', 'effect', 'state', 'kill', 'restart']);

/** What ran before one of these belongs to what came before it. */
const ENDS_A_STRETCH = new Set<Happening['kind']>([
  'message',
  'entry',
  'effect',
  'question',
  'model',
  'roots',
]);

function parse(body: string): WireMessage {
  try {
    return JSON.parse(body) as WireMessage;
  } catch {
    return {};
  }
}
