import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { type ObserverOptions, RecentCalls } from './recent-calls.ts';

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

/** The calls with open spans, and recently ended ones. */
export class OpenCalls {
  readonly #recent: RecentCalls<TracedCall>;
  readonly #running = new Map<Span, TracedCall>();
  readonly #sweeper: NodeJS.Timeout;

  /** @throws InvalidOption for an unknown or invalid option. */
  constructor(options: ObserverOptions) {
    this.#recent = new RecentCalls('traceMrtr', options, (call) => end(call, 'abandoned'));
    this.#sweeper = setInterval(() => this.#recent.forgetExpired(), 1000).unref();
  }

  /** Finds a call, which may have ended. */
  find(id: string): TracedCall | undefined {
    return this.#recent.find(id);
  }

  roundStarted(call: TracedCall, span: Span): void {
    call.rounds++;
    call.running++;
    this.#running.set(span, call);
  }

  roundEnded(id: string, call: TracedCall, span: Span, outcome: string): void {
    if (!this.#running.delete(span)) return;
    call.running--;
    if (outcome === 'input_required') this.#recent.remember(id, call);
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
    for (const { value } of this.#recent.values()) end(value, 'unobserved');
    this.#running.clear();
  }
}

/** Ends the call's span, now or at the end of the round that is being served. */
function end(call: TracedCall, outcome: string) {
  if (call.ended || call.running > 0) return;
  call.ended = true;
  call.span.setAttributes({ 'mrtr.outcome': outcome, 'mrtr.rounds': call.rounds });
  if (outcome === 'error') call.span.setStatus({ code: SpanStatusCode.ERROR });
  call.span.end();
}
