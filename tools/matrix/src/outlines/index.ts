/** `@mrtr/matrix/outlines`: handlers described without a shape, and written in any option's shape. */
import { readdirSync } from 'node:fs';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ListedOption, LoadedOption, OptionDeps, RunningOption } from '@mrtr/comparison/options';
import { z } from 'zod';
import type { Outline, Write, WriteResource } from './outline.ts';

export * from './outline.ts';

/** Writes outlines in one shape. */
export interface Writer {
  readonly write: Write;
  readonly writeResource: WriteResource;
}

const FOLDER = new URL('./writers/', import.meta.url);

// One file for each letter: a new shape is one more.
const WRITERS = new Map<string, Partial<Writer>>(
  await Promise.all(
    readdirSync(FOLDER).map(
      async (file): Promise<[string, Partial<Writer>]> => [
        file.replace('.ts', ''),
        await import(/* @vite-ignore */ new URL(file, FOLDER).href),
      ],
    ),
  ),
);

/** The writer of outlines in the option's shape, for a running instance of it. */
export function writerOf({ id }: Pick<ListedOption, 'id'>, { store }: Pick<RunningOption, 'store'>): Writer {
  const letter = id.charAt(0);
  const { write, writeResource = write as WriteResource | undefined } = WRITERS.get(letter) ?? {};
  if (!write || !writeResource)
    throw new Error(
      `Nothing writes outlines in shape ${letter.toUpperCase()}. Write tools/matrix/src/outlines/writers/${letter}.ts.`,
    );
  return {
    write: (outline) => write(outline, store),
    writeResource: (outline) => writeResource(outline, store),
  };
}

/** Starts an instance of an option that serves an outline as one more tool. */
export function serveOutline(
  option: LoadedOption,
  deps: OptionDeps,
  name: string,
  outline: Outline<CallToolResult>,
) {
  const running = option.create(deps);
  const callback = writerOf(option, running).write(outline);
  return {
    ...running,
    server() {
      const server = running.server();
      server.registerTool(name, { inputSchema: z.object({}) }, callback);
      return server;
    },
  };
}
