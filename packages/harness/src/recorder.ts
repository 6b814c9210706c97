/** Collects the events of one conversation, also where several run in this process at once. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Diagnostic, observeDiagnostics } from './diagnostics.ts';
import type { TranscriptEvent, WireMessage } from './transcript.ts';

// Diagnostics channels are process-wide; what they tell belongs to the conversation in whose context it happens.
const current = new AsyncLocalStorage<Recorder>();

observeDiagnostics((diagnostic) => current.getStore()?.tell(diagnostic));

/** What a recorder needs of a transport: v1's and v2's have it alike. */
interface AnyTransport {
  send(message: unknown, options?: unknown): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** Records one conversation. */
export class Recorder {
  readonly events: TranscriptEvent[] = [];
  readonly #onEvent: ((event: TranscriptEvent) => void) | undefined;
  #recording = false;
  #entryPending = false;
  #shaped = false;

  constructor(onEvent?: (event: TranscriptEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Runs `scene` with everything in it recorded here. */
  run<T>(scene: () => Promise<T>): Promise<T> {
    return current.run(this, scene);
  }

  /** From now on: what connecting a client took is not part of the call. */
  start(): void {
    this.#recording = true;
  }

  /** No more: the call is over, and what closing its client breaks off is not part of it either. */
  stop(): void {
    this.#recording = false;
  }

  record(event: TranscriptEvent): void {
    if (!this.#recording) return;
    this.#flushEntry();
    this.events.push(event);
    this.#onEvent?.(event);
  }

  /** Something was told on a diagnostics channel, in this process or in another. */
  tell({ channel, event }: Diagnostic): void {
    if (channel === 'mrtr:handler') this.handlerEntered();
    else if (channel === 'mrtr:effect') this.record({ kind: 'effect', key: event.key, phase: event.phase });
    else if (channel === 'mrtr:state') this.record({ kind: 'state', phase: event.phase, bytes: event.bytes });
    else if (event.phase === 'start') this.#roundStarted();
    else this.#roundEnded(event.shape);
  }

  /** A shape says that it enters the author's function. From then on it is the shapes that tell. */
  handlerEntered(): void {
    this.#shaped = true;
    this.#entryPending = false;
    this.record({ kind: 'entry' });
  }

  /** Without a shape the registered callback is the author's function, and a round is an entry into it. */
  #roundStarted(): void {
    this.#entryPending = !this.#shaped;
  }

  #roundEnded(shape: string | undefined): void {
    if (shape !== undefined) this.#entryPending = false;
    this.#flushEntry();
  }

  #flushEntry(): void {
    if (!this.#entryPending) return;
    this.#entryPending = false;
    this.record({ kind: 'entry' });
  }

  /** Watches a client's transport, both ways. A message counts when its send has succeeded. */
  watch<T extends AnyTransport>(transport: T): T {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const event: TranscriptEvent = { kind: 'wire', from: 'client', message: message as WireMessage };
      // Placed before the send, since over HTTP the answer arrives before the send returns.
      this.record(event);
      try {
        await send(message, options);
      } catch (error) {
        const at = this.events.indexOf(event);
        if (at >= 0 && this.#recording) this.events.splice(at, 1);
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
            this.record({ kind: 'wire', from: 'server', message: message as WireMessage });
            listener(message, extra);
          });
      },
    });
    return transport;
  }
}
