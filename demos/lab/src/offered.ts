/** The options that a side can be set up with, and their authors' files. */
import { existsSync, readFileSync } from 'node:fs';
import { authorsFile } from '@mrtr/matrix/processes';
import { addressOf, OPTIONS } from '@mrtr/options';
import type { Offered } from './protocol.ts';

/** What an option without a `write` of its own is written by. */
const GUARD_FIRST = 'packages/options/option/src/guard-first.ts';

/** In the order of the tables. */
export const OFFERED: readonly Offered[] = OPTIONS.map((listed) => {
  const { id, name, title, needsPostgres } = listed;
  const made = new URL(addressOf(listed));
  /** A variant's own file, such as `weather-bare.ts`, or the one that it has in common with its shape. */
  const fileOf = (tool: string) => {
    const files = [`${tool}-${id.slice(2)}`, tool].map((file) => new URL(`${file}.ts`, made));
    return authorsFile(files.find((file) => existsSync(file))?.href ?? '');
  };
  const order = /\bwrite/.test(readFileSync(made, 'utf8')) ? (fileOf('write') ?? GUARD_FIRST) : undefined;
  const files = { weather: fileOf('weather'), 'work-item': fileOf('work-item'), order };
  return { id, name, title, needsPostgres, files };
});
