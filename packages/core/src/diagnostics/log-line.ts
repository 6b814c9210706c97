/** Formats an error for the operator's log: one line that names its call. */
import { HIDDEN } from './hidden-characters.ts';

/** The call that an error belongs to. */
export interface LoggedCall {
  readonly method: string;
  /** The name that the client sent; such a tool may not exist. */
  readonly target: string;
  /** The call's id; undefined without a reliable one. */
  readonly id?: string | undefined;
  /** The caller's pseudonym; undefined for an anonymous caller. Never the principal itself. */
  readonly pseudonym?: string | undefined;
}

const MARK = ' [call ';

/** What was thrown, as an error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/** Copies an error and adds its call to the message. A copy, because one error object may be thrown in many calls. */
export function withCallInMessage(thrown: unknown, { method, target, id, pseudonym }: LoggedCall): Error {
  const error = asError(thrown);
  // Escape brackets: a target could otherwise forge the mark of another call.
  const tool = `${method} ${toPrintable(target).replaceAll(/[[\]]/g, escapeMark).slice(0, 100)}`;
  return copyWithMessage(
    error,
    `${error.message}${MARK}${id ?? 'unknown'}, caller ${pseudonym ?? 'anonymous'}, ${tool}]`,
  );
}

/** The message of {@link withCallInMessage} without the call. */
export const withoutCall = (message: string) => message.split(MARK, 1)[0] as string;

/** Returns the error, or a copy on one line if its message contains characters that forge lines or hide text. */
export function onOneLine(error: Error): Error {
  const message = toPrintable(error.message);
  return message === error.message ? error : copyWithMessage(error, message);
}

const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');

const toPrintable = (text: string) => text.replaceAll(EACH_HIDDEN, escapeMark);

const escapeMark = (mark: string) => `\\u{${mark.codePointAt(0)?.toString(16)}}`;

function copyWithMessage(error: Error, message: string) {
  const copy: Error = Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
  const stack = error.stack?.replace(error.message, () => message);
  for (const [name, value] of Object.entries({ message, stack }))
    Object.defineProperty(copy, name, { value, configurable: true, writable: true });
  return copy;
}
