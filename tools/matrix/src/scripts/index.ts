/** `@mrtr/matrix/scripts`: handlers described without a shape, and written in any option's shape. */
import { readdirSync } from 'node:fs';
import type { LoadedOption, RunningOption } from '@mrtr/comparison/options';
import type { McpServer } from '@mrtr/core';
import type { Write } from './script.ts';

export type { Data, Script, Write } from './script.ts';

const FOLDER = new URL('./writers/', import.meta.url);

// One file for each letter: a new shape is one more.
const WRITERS = new Map<string, Write>(
  await Promise.all(
    readdirSync(FOLDER).map(async (file): Promise<[string, Write]> => {
      const { write } = (await import(/* @vite-ignore */ new URL(file, FOLDER).href)) as { write: Write };
      return [file.replace('.ts', ''), write];
    }),
  ),
);

/** Makes one of the option's servers, to which `register` adds scripts in the option's shape. */
export function scriptServer(
  { id }: Pick<LoadedOption, 'id'>,
  { server, kept }: RunningOption,
  register: (server: McpServer, write: Write) => void,
): McpServer {
  const letter = id.charAt(0);
  const write = WRITERS.get(letter);
  if (!write)
    throw new Error(
      `Nothing writes scripts in shape ${letter.toUpperCase()}. Write tools/matrix/src/scripts/writers/${letter}.ts.`,
    );
  const made = server();
  register(made, (script) => write(script, kept));
  return made;
}
