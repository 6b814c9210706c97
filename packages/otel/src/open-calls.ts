import { type Span, SpanStatusCode } from '@opentelemetry/api';

/** A logical call. */
export interface TracedCall {
  readonly span: Span;
  rounds: number;
  /** How many of its rounds are being served. More than one if a client sends a round twice at once. */
  running: number;
  ended: boolean;
  /** The outcome of the round that ended the call. */
  outcome?: string;
}

interface Remembered {
  readonly call: TracedCall;
  readonly deadline: number;
}

/** The calls with open spans, and recently ended ones, by id. Their number is limited: a client may never return. */
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

  /** Finds a call, which may have ended. */
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

  /** Ends all open spans. */
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
    // Move it behind all others, which expire earlier.
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

/** Ends the call's span, now or at the end of the round that is being served. */
function end(call: TracedCall, outcome: string): void {
  if (call.ended || call.running > 0) return;
  call.ended = true;
  call.span.setAttributes({ 'mrtr.outcome': outcome, 'mrtr.rounds': call.rounds });
  if (outcome === 'error') call.span.setStatus({ code: SpanStatusCode.ERROR });
  call.span.end();
}
