/** The colours of the parts of the drawing. */
import { styleText } from 'node:util';
import type { Writer } from '@mrtr/harness/internal';
import type { Terminal } from './terminal.ts';

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
export function titleLine(left: string, right: string, paint: Paint = plain): string {
  if (right === '') return ` ${paint('title', left)}`;
  const gap = ' '.repeat(Math.max(1, WIDTH - 2 - left.length - right.length));
  return ` ${paint('title', left)}${gap}${paint('quiet', right)}`;
}
