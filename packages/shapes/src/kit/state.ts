/** The type of an author's function, and the state that a shape keeps. */
import type { ServerContext } from '@mrtr/core';
import { ownEntry } from '@mrtr/core/internal';
import { type Call, callOf, withNotes } from '@mrtr/core/shape';

/** An author's function that gets the shape's own context. */
export type Author<Input, Context, R> = (input: Input, ctx: Context) => R | Promise<R>;

/** How a handler ended. */
export type HandlerEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

/** The answers of a round that did not fit, by key. */
export type UnfitAnswers = Readonly<Record<string, NonNullable<ReturnType<Call['reads']['unfit']['get']>>>>;

/** A shape's name and the version of its state. State with another tag is rejected. */
export type ShapeTag = `${string}/${number}`;

/**
 * The state that this shape left in an earlier round, or undefined. No client changed it, because the boundary has
 * opened it. After a deploy it may belong to another shape or an older version. Such state is rejected: starting over
 * would repeat the effects that it records.
 *
 * @throws ProtocolError (-32602) for such state.
 */
export function loadState(ctx: ServerContext, tag: ShapeTag): Record<string, unknown> | undefined {
  const text = ctx.mcpReq.requestState<string>();
  if (text === undefined) return undefined;
  const state = recordIn(text);
  if (state && ownEntry(state, 's') === tag) return state;
  return rejectBeforeEntry(callOf(ctx), `the state is not one that ${tag} has kept`);
}

/** Rejects state before any code of the author runs, so that another version or instance may still serve it. */
export function rejectBeforeEntry(call: Pick<Call, 'rejectState'>, why: string): never {
  try {
    return call.rejectState(why);
  } catch (error) {
    throw withNotes(error, { notEntered: true });
  }
}

function recordIn(text: string) {
  try {
    const state: unknown = JSON.parse(text);
    return typeof state === 'object' && state !== null ? (state as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Serialises state for {@link loadState}. Leaves out empty parts, because every byte travels twice. */
export function saveState(tag: ShapeTag, parts: Readonly<Record<string, object>>) {
  const filled = Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0);
  return JSON.stringify({ s: tag, ...Object.fromEntries(filled) });
}

/** A record without inherited members, so that a key named `__proto__` is a key like any other. */
export const bareRecord = <T>(from: unknown): Record<string, T> =>
  Object.assign(Object.create(null) as Record<string, T>, typeof from === 'object' ? from : undefined);
