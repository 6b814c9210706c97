import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { type ObserverOptions, recentCalls } from './recent-calls.ts';

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

export type OpenCalls = ReturnType<typeof openCalls>;

/**
 * The calls with open spans, and recently ended ones.
 *
 * @throws InvalidOption for an unknown or invalid option.
 */
export function openCalls(options: ObserverOptions) {
  const recent = recentCalls<TracedCall>('traceMrtr', options, (call) => end(call, 'abandoned'));
  const running = new Map<Span, TracedCall>();
  const sweeper = setInterval(() => recent.forgetExpired(), 1000).unref();
  return {
    /** Finds a call, which may have ended. */
    find: recent.find,

    roundStarted(call: TracedCall, span: Span) {
      call.rounds++;
      call.running++;
      running.set(span, call);
    },

    roundEnded(id: string, call: TracedCall, span: Span, outcome: string) {
      if (!running.delete(span)) return;
      call.running--;
      if (outcome === 'input_required') recent.remember(id, call);
      else call.outcome ??= outcome;
      if (call.outcome !== undefined) end(call, call.outcome);
    },

    /** Ends all open spans. */
    close() {
      clearInterval(sweeper);
      for (const [span, call] of running) {
        span.end();
        call.running = 0;
        end(call, 'unobserved');
      }
      for (const { value } of recent.values()) end(value, 'unobserved');
      running.clear();
    },
  };
}

/** Ends the call's span, now or at the end of the round that is being served. */
function end(call: TracedCall, outcome: string) {
  if (call.ended || call.running > 0) return;
  call.ended = true;
  call.span.setAttributes({ 'mrtr.outcome': outcome, 'mrtr.rounds': call.rounds });
  if (outcome === 'error') call.span.setStatus({ code: SpanStatusCode.ERROR });
  call.span.end();
}
