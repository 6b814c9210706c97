/** Request states as bytes. The page imports this too, so do not import Node modules. */
import { eventsOf, objectIn, type TranscriptEvent } from '@mrtr/harness/transcript';

const PREFIX = 'v1.';

/** All sent states, in order. */
export const statesIn = (events: readonly TranscriptEvent[]): readonly string[] =>
  eventsOf('message', events).flatMap(({ message }) => {
    const { requestState } = objectIn(message, 'result');
    return typeof requestState === 'string' ? [requestState] : [];
  });

/** Splits a state into its sealed part and its plain label. */
function partsOf(state: string): readonly [sealed: string, label: string] {
  const text = state.startsWith(PREFIX) ? state.slice(PREFIX.length) : state;
  const at = text.indexOf('~');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

/** The bytes of a state: decoded if sealed, otherwise its text as UTF-8. */
export function bytesOf(state: string): Uint8Array {
  const [sealed] = partsOf(state);
  try {
    const binary = atob(sealed.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return new TextEncoder().encode(state);
  }
}

/** Flips the lowest bit of one byte of a state. */
export function flipBit(state: string, at: number): string {
  if (!state.startsWith(PREFIX)) {
    const code = state.charCodeAt(at) ^ 1;
    return state.slice(0, at) + String.fromCharCode(code) + state.slice(at + 1);
  }
  const bytes = bytesOf(state);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  return PREFIX + text + partsOf(state)[1];
}
