/** What a recorder needs to hear on the diagnostics channels, in a form that can be sent to another process. */
import { type EffectEvent, type HandlerEvent, observe, type RoundEvent, type StateEvent } from '@mrtr/core';

/** One event, with the channel that it was told on. */
export type Diagnostic =
  | { readonly channel: 'mrtr:round'; readonly event: RoundEvent }
  | { readonly channel: 'mrtr:handler'; readonly event: HandlerEvent }
  | { readonly channel: 'mrtr:effect'; readonly event: EffectEvent }
  | { readonly channel: 'mrtr:state'; readonly event: StateEvent };

/** Calls `listener` with every one that is told in this process. */
export function observeDiagnostics(listener: (diagnostic: Diagnostic) => void): void {
  observe('mrtr:round', (event) => listener({ channel: 'mrtr:round', event }));
  observe('mrtr:handler', (event) => listener({ channel: 'mrtr:handler', event }));
  observe('mrtr:effect', (event) => listener({ channel: 'mrtr:effect', event }));
  observe('mrtr:state', (event) => listener({ channel: 'mrtr:state', event }));
}
