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

/** The bytes of a text in base64url. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));

export const toBase64 = (bytes: Uint8Array) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The bytes of a state: decoded if sealed, otherwise its text as UTF-8. */
export function bytesOf(state: string): Uint8Array {
  const [sealed] = partsOf(state);
  try {
    return fromBase64(sealed);
  } catch {
    return new TextEncoder().encode(state);
  }
}

/** Flips the lowest bit of one byte of a state. */
export function flipBit(state: string, at: number) {
  if (!state.startsWith(PREFIX)) {
    const code = state.charCodeAt(at) ^ 1;
    return state.slice(0, at) + String.fromCharCode(code) + state.slice(at + 1);
  }
  const bytes = bytesOf(state);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return PREFIX + toBase64(bytes) + partsOf(state)[1];
}

/** What anybody can read in a state: JSON, as it is or in base64. */
export function readPlain(state: string) {
  for (const read of [() => state, () => new TextDecoder().decode(fromBase64(state))])
    try {
      const text = read();
      if (/^\s*[[{"]/.test(text)) return JSON.stringify(JSON.parse(text));
    } catch {
      // It is something else.
    }
  return undefined;
}
