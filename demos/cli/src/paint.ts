/** What the parts of the drawing look like, on a terminal that has colours. */
import { styleText } from 'node:util';
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
} as const;

/** A part of the drawing, named for what it says and not for its colour. */
export type Role = keyof typeof STYLES;

/** Colours a text, or leaves it as it is. */
export type Paint = (role: Role, text: string) => string;

/** No colours. */
export const plain: Paint = (_role, text) => text;

/**
 * Colours where stdout is a screen that shows them, and `NO_COLOR` or `TERM=dumb` do not forbid it. `FORCE_COLOR` decides
 * before all of these, as it does for Node: `0` and `false` mean no colours, anything else means colours.
 */
export function paintFor({ stdout, env }: Pick<Terminal, 'stdout' | 'env'>): Paint {
  const { FORCE_COLOR: forced } = env;
  const coloured =
    forced === undefined ? stdout.isTTY && stdout.hasColors?.() : forced !== '0' && forced !== 'false';
  if (!coloured) return plain;
  // The stream has been asked; newer versions of Node would ask again, and always ask stdout.
  return (role, text) => styleText(STYLES[role], text, { validateStream: false });
}
