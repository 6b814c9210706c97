/** What a shape tells the boundary: on its callback, and on each result or error of it. */
import type { InputKind } from '../wire/input-kind.ts';

/** The parts of a shape are under this symbol of its callback, and its notes under that of an outcome. */
export const SHAPE = Symbol.for('mrtr.shape');

/** A shape's notes for the boundary, attached to its result or its error. */
export interface ShapeNotes {
  /**
   * Ends the sealed state in `~label`. The server's own router can then send the next round to the instance that the
   * label names. Anyone can read the label; nobody can change it.
   */
  readonly routingLabel?: string | undefined;
  /** The keys of the effects that have run in this call. `onerror` gets them if the client cannot be asked. */
  readonly effects?: readonly string[] | undefined;
  /** The kinds of input that the handler needs and its client lacks. The handler was not entered. */
  readonly lacked?: readonly InputKind[];
  /**
   * No code of the author ran in this round. If the shape's own callback is registered, the token's lease is given back,
   * so a retry on the right instance or version is served.
   */
  readonly notEntered?: boolean;
}

type Noted = { [SHAPE]?: ShapeNotes } | null | undefined;

/** Adds `notes` for the boundary to a result or an error, and returns it. A frozen value, or a primitive one, keeps none. */
export function withNotes<T>(outcome: T, notes: ShapeNotes): T {
  if (Object.isExtensible(outcome))
    (outcome as NonNullable<Noted>)[SHAPE] = { ...notesOf(outcome), ...notes };
  return outcome;
}

/** The notes that {@link withNotes} added. */
export const notesOf = (outcome: unknown): ShapeNotes => (outcome as Noted)?.[SHAPE] ?? {};
