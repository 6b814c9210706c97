/** What is sealed of an author's state: the state, or, where there is none and the token is wanted for its id, a mark. */

const NO_STATE = '\0';

/**
 * What to seal, or undefined for no token.
 *
 * @param state what the author returned as `requestState`.
 * @param always whether a token has to go out even if the author keeps nothing.
 */
export function payloadOf(state: string | undefined, always: boolean): string | undefined {
  if (state === undefined) return always ? NO_STATE : undefined;
  // State of the author's own that begins like the mark has one more of it in front. Whatever is no text is not ours.
  return typeof state === 'string' && state.startsWith(NO_STATE) ? NO_STATE + state : state;
}

/** What the author kept, of what {@link payloadOf} gave. */
export function keptState(payload: string | undefined): string | undefined {
  if (payload === NO_STATE) return undefined;
  return payload?.startsWith(NO_STATE) ? payload.slice(NO_STATE.length) : payload;
}
