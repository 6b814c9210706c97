/** The calls whose spans are open, and for a while those that are over: bounded, since a client may never come back. */
import { type Span, SpanStatusCode } from '@opentelemetry/api';

/** A logical call. */
export interface TracedCall {
  readonly span: Span;
  rounds: number;
  /** Rounds being served now: more than one where a client sends the same round twice at once. */
  running: number;
  ended: boolean;
  /** How a round ended after which the call does not go on. */
  outcome?: string;
  /** Id of the state that its latest round was answered with. */
  latest?: string;
}

interface Remembered {
  readonly call: TracedCall;
  readonly deadline: number;
}

// Node fires a timer beyond this at once. A sweep that comes too early finds nothing and waits on.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Leads from the id of a state to the call that it belongs to. */
export class OpenCalls {
  readonly #ttlMs: number;
  readonly #max: number;
  // One time to live for all, so insertion order is deadline order.
  readonly #byState = new Map<string, Remembered>();
  readonly #running = new Map<Span, TracedCall>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ttlMs: number, max: number) {
    this.#ttlMs = ttlMs;
    this.#max = max;
  }

  /** The call that the state of this id belongs to; it may be over. */
  find(id: string): TracedCall | undefined {
    return this.#byState.get(id)?.call;
  }

  roundStarted(call: TracedCall, span: Span): void {
    call.rounds++;
    call.running++;
    this.#running.set(span, call);
  }

  /** @param sealed id of the state that the round was answered with: without one, no later round can be told. */
  roundEnded(call: TracedCall, span: Span, outcome: string, sealed: string | undefined): void {
    if (!this.#running.delete(span)) return;
    call.running--;
    if (sealed === undefined || outcome !== 'input_required') call.outcome ??= outcome;
    else this.#remember(sealed, call);
    if (call.outcome !== undefined) end(call, call.outcome);
  }

  /** Ends every span that is open. */
  close(): void {
    clearTimeout(this.#timer);
    for (const [span, call] of this.#running) {
      span.end();
      call.running = 0;
      end(call, 'unobserved');
    }
    for (const { call } of this.#byState.values()) end(call, 'unobserved');
    this.#running.clear();
    this.#byState.clear();
  }

  #remember(id: string, call: TracedCall): void {
    call.latest = id;
    this.#byState.set(id, { call, deadline: Date.now() + this.#ttlMs });
    if (this.#byState.size > this.#max) this.#forgetOldest();
    this.#watch();
  }

  #forgetOldest(): void {
    const [id, { call }] = this.#byState.entries().next().value as [string, Remembered];
    this.#byState.delete(id);
    if (call.latest === id) end(call, 'abandoned');
  }

  #watch(): void {
    const oldest = this.#byState.values().next().value;
    if (this.#timer || !oldest) return;
    const wait = Math.max(0, oldest.deadline - Date.now());
    this.#timer = setTimeout(() => this.#sweep(), Math.min(wait, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = Date.now();
    for (const { deadline } of this.#byState.values()) {
      if (deadline > now) break;
      this.#forgetOldest();
    }
    this.#watch();
  }
}

/** Ends the call's span, unless a round of it is being served: that one's end will. */
function end(call: TracedCall, outcome: string): void {
  if (call.ended || call.running > 0) return;
  call.ended = true;
  call.span.setAttributes({ 'mrtr.outcome': outcome, 'mrtr.rounds': call.rounds });
  if (outcome === 'error') call.span.setStatus({ code: SpanStatusCode.ERROR });
  call.span.end();
}
