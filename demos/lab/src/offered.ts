/** The options that a side can be set up with, and their authors' files. */
import { existsSync, readFileSync } from 'node:fs';
import { authorsFile } from '@mrtr/matrix/processes';
import { addressOf, OPTIONS } from '@mrtr/options-list';
import type { Offered } from './protocol.ts';

/** The options, in the order of the tables. */
export const OFFERED: readonly Offered[] = OPTIONS.map((listed) => {
  const { id, name, title, needsPostgres } = listed;
  const made = new URL(addressOf(listed));
  /** A variant's own file, such as `weather-bare.ts`, or the shape's file. */
  const fileOf = (tool: string) => {
    const files = [`${tool}-${id.slice(2)}`, tool].map((file) => new URL(`${file}.ts`, made));
    return authorsFile(files.find((file) => existsSync(file))?.href ?? '');
  };
  const files = { weather: fileOf('weather'), 'work-item': fileOf('work-item') };
  return { id, name, title, needsPostgres, files, hasVersions: /\bwrite/.test(readFileSync(made, 'utf8')) };
});
