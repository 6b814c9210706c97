/**
 * The diagnostics channels that a recorder reads. Their names and events are a published contract
 * (docs/observability.md), so any server may publish them, and this package imports nothing of ours.
 */
import { channel } from 'node:diagnostics_channel';
import type { EntryPart } from '../transcript/transcript.ts';
import type { Traced } from './line-trace.ts';

/** One event with its channel, as plain data for another process. */
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
        readonly phase: 'sealed' | 'opened' | 'replayed';
        readonly bytes: number;
      };
    }
  | {
      readonly channel: 'mrtr:rejection';
      readonly event: {
        readonly reason: string;
        readonly detail?: string | undefined;
        /** The length of rejected state. Other rejections have none, and are not recorded. */
        readonly bytes?: number | undefined;
      };
    }
  /** Not published on a channel: a process that traces its lines sends it (`LineTrace`). */
  | { readonly channel: 'mrtr:lines'; readonly event: Traced };

export const CHANNELS = ['mrtr:handler', 'mrtr:effect', 'mrtr:state', 'mrtr:rejection'] as const;

// Kept: Node 20 can lose the subscribers of a channel that was collected as garbage and made again.
const channels = CHANNELS.map((name) => channel(name));

/**
 * Calls `listener` with every event of this process. The returned function stops it.
 *
 * @example
 * const stop = observeDiagnostics((diagnostic) => process.send?.(diagnostic));
 */
export function observeDiagnostics(listener: (diagnostic: Diagnostic) => void): () => void {
  const onEvent = (event: unknown, name: string | symbol) => listener({ channel: name, event } as Diagnostic);
  for (const one of channels) one.subscribe(onEvent);
  return () => {
    for (const one of channels) one.unsubscribe(onEvent);
  };
}
