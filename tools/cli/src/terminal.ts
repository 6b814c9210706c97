/** The terminal of a command: its streams, its colours, and the columns of a text. */
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { escapeHidden, Writer } from '@mrtr/harness/internal';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Writer<Output>;
  readonly stderr: Writer<Output>;
  readonly env: Environment;
  /** Ends the program when a person presses Ctrl-C. */
  exit(code: number): void;
}

/** `process`, or a replacement for it in tests. */
export interface Streams extends Omit<Terminal, 'stdout' | 'stderr'> {
  readonly stdout: Output;
  readonly stderr: Output;
}

export const terminalOf = ({ stdin, stdout, stderr, env, exit }: Streams): Terminal => ({
  ...{ stdin, env, exit },
  stdout: new Writer(stdout),
  stderr: new Writer(stderr),
});

export type Input = Readable & { readonly isTTY?: boolean };

export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
};

export type Environment = Readonly<Record<string, string | undefined>>;

const STYLES = {
  title: 'bold',
  frame: 'gray',
  quiet: 'gray',
  request: 'cyan',
  question: 'magenta',
  user: 'green',
  entry: 'blue',
  effect: 'yellow',
  result: 'bold',
  error: 'red',
  refused: 'green',
} as const;

/** A part of the drawing, named for its meaning and not for its colour. */
export type Role = keyof typeof STYLES;

export type Paint = (role: Role, text: string) => string;

export const plain: Paint = (_role, text) => text;

/**
 * Colours where stdout is a screen that shows them, and `NO_COLOR` or `TERM=dumb` do not forbid it. `FORCE_COLOR`
 * decides before all of these, as it does for Node: `0` and `false` mean no colours, anything else means colours.
 */
export function paintFor({
  stdout,
  env,
}: Pick<Terminal, 'env'> & { readonly stdout: Pick<Writer, 'hasColors'> }): Paint {
  const { FORCE_COLOR: forced } = env;
  const coloured = forced === undefined ? stdout.hasColors() : forced !== '0' && forced !== 'false';
  if (!coloured) return plain;
  // The stream was checked above. Newer versions of Node would check again, and always check stdout.
  return (role, text) => styleText(STYLES[role], text, { validateStream: false });
}

/** The columns of the drawing. */
export const WIDTH = 80;

/** The first line of every command. */
export function titleLine(left: string, right: string, paint: Paint = plain) {
  if (right === '') return ` ${paint('title', left)}`;
  const gap = ' '.repeat(Math.max(1, WIDTH - 2 - left.length - right.length));
  return ` ${paint('title', left)}${gap}${paint('quiet', right)}`;
}

/** The columns of a printable text: two for a wide character, none for a combining one. */
export const columns = (text: string) => stringWidth(text);

/** The text as at most `most` printable lines of at most `width` columns; `…` marks omitted text. */
export function wrap(text: string, width: number, most = 6) {
  const all = text.split('\n').flatMap((paragraph) => breakLines(escapeHidden(paragraph), width));
  if (all.length <= most) return all;
  const [last = ''] = breakLines(all[most - 1] ?? '', width - 1);
  return [...all.slice(0, most - 1), `${last}…`];
}

export const clip = (text: string, width: number) => wrap(text, width, 1)[0] ?? '';

const breakLines = (text: string, width: number) =>
  lines(text, width, true).flatMap((line) =>
    // A space with a combining mark on it does not count for wrap-ansi: cut such a line between any two characters.
    columns(line) <= width ? line : lines(line, width, false),
  );

const lines = (text: string, width: number, atWords: boolean) =>
  wrapAnsi(text, width, { hard: true, wordWrap: atWords, trim: atWords }).split('\n');
