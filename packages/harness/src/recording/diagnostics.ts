/**
 * The diagnostics channels that a recorder reads. Their names and events are a published contract
 * (docs/observability.md), so a server of any origin may publish them; nothing of the libraries is imported.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EntryPart } from '../transcript/transcript.ts';
import type { Traced } from './line-trace.ts';

/** One event with its channel: plain data, which can be sent to another process. */
export type Diagnostic =
  | {
      readonly channel: 'mrtr:handler';
      readonly event: { readonly part?: EntryPart | undefined; readonly name?: string | undefined };
    }
  | {
      readonly channel: 'mrtr:effect';
      readonly event: { readonly key: string; readonly phase: 'ran' | 'skipped' };
    }
  | {
      readonly channel: 'mrtr:state';
      readonly event: {
        readonly phase: 'sealed' | 'opened' | 'rejected' | 'replayed';
        readonly bytes: number;
        readonly reason?: string | undefined;
      };
    }
  /** Not published: sent by a process that traces its lines (`LineTrace`). */
  | { readonly channel: 'mrtr:lines'; readonly event: Traced };

/** The channels' names. */
export const CHANNELS = ['mrtr:handler', 'mrtr:effect', 'mrtr:state'] as const;

/**
 * Calls `listener` with every event that is published in this process, until the returned function is called.
 *
 * @example
 * const stop = observeDiagnostics((diagnostic) => process.send?.(diagnostic));
 */
export function observeDiagnostics(listener: (diagnostic: Diagnostic) => void): () => void {
  const onEvent = (event: unknown, channel: string | symbol) => listener({ channel, event } as Diagnostic);
  for (const channel of CHANNELS) subscribe(channel, onEvent);
  return () => {
    for (const channel of CHANNELS) unsubscribe(channel, onEvent);
  };
}
