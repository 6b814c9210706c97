/** The calls with open spans, and recently ended ones. Their number is limited, since a client may never return. */
import { type Span, SpanStatusCode } from '@opentelemetry/api';

/** A logical call. */
export interface TracedCall {
  readonly span: Span;
  rounds: number;
  /** Rounds that are being served now: more than one if a client sends the same round twice at once. */
  running: number;
  ended: boolean;
  /** The outcome of the round that ended the call. */
  outcome?: string;
}

interface Remembered {
  readonly call: TracedCall;
  readonly deadline: number;
}

/** Finds the call that a round belongs to, by the call's id. */
export class OpenCalls {
  readonly #ttlMs: number;
  readonly #max: number;
  // All calls have the same time to live, so they expire in the order of insertion.
  readonly #byId = new Map<string, Remembered>();
  readonly #running = new Map<Span, TracedCall>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(ttlMs: number, max: number) {
    this.#ttlMs = ttlMs;
    this.#max = max;
    this.#sweeper = setInterval(() => this.#sweep(), 1000).unref();
  }

  /** The call with this id; it may have ended. */
  find(id: string): TracedCall | undefined {
    return this.#byId.get(id)?.call;
  }

  roundStarted(call: TracedCall, span: Span): void {
    call.rounds++;
    call.running++;
    this.#running.set(span, call);
  }

  roundEnded(id: string, call: TracedCall, span: Span, outcome: string): void {
    if (!this.#running.delete(span)) return;
    call.running--;
    if (outcome === 'input_required') this.#remember(id, call);
    else call.outcome ??= outcome;
    if (call.outcome !== undefined) end(call, call.outcome);
  }

  /** Ends every span that is open. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const [span, call] of this.#running) {
      span.end();
      call.running = 0;
      end(call, 'unobserved');
    }
    for (const { call } of this.#byId.values()) end(call, 'unobserved');
    this.#running.clear();
    this.#byId.clear();
  }

  #remember(id: string, call: TracedCall): void {
    // Put it behind all others, which have less time left.
    this.#byId.delete(id);
    this.#byId.set(id, { call, deadline: Date.now() + this.#ttlMs });
    if (this.#byId.size > this.#max) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [id, { call }] = this.#byId.entries().next().value as [string, Remembered];
    this.#byId.delete(id);
    end(call, 'abandoned');
  }

  #sweep(): void {
    const now = Date.now();
    for (const { deadline } of this.#byId.values()) {
      if (deadline > now) break;
      this.#forgetOldest();
    }
  }
}

/** Ends the call's span, unless a round of it is being served: then the end of that round ends it. */
function end(call: TracedCall, outcome: string): void {
  if (call.ended || call.running > 0) return;
  call.ended = true;
  call.span.setAttributes({ 'mrtr.outcome': outcome, 'mrtr.rounds': call.rounds });
  if (outcome === 'error') call.span.setStatus({ code: SpanStatusCode.ERROR });
  call.span.end();
}
