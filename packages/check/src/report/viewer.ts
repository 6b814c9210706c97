/** The lab's viewer, which draws the conversations of an HTML report. The package brings it, built; the source does not. */
import { existsSync, readFileSync } from 'node:fs';

/** The viewer, as it is put into a page. */
export interface Viewer {
  readonly script: string;
  readonly style: string;
}

/** Reads the viewer in `folder`. Undefined where it was not built: reports then have their conversations as text. */
export function readViewer(folder: URL): Viewer | undefined {
  const [script, style] = [new URL('viewer.js', folder), new URL('viewer.css', folder)];
  if (!existsSync(script) || !existsSync(style)) return undefined;
  return { script: readFileSync(script, 'utf8'), style: readFileSync(style, 'utf8') };
}
