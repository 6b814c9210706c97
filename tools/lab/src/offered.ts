/** The options that a side can be set up with, and their authors' files. */
import { readFileSync } from 'node:fs';
import { addressOf, OPTIONS } from '@mrtr/comparison/options';
import { authorsFile } from '@mrtr/matrix/processes';
import type { Offered } from './protocol.ts';

/** The options, in the order of the tables. */
export const OFFERED: readonly Offered[] = OPTIONS.map((listed) => {
  const { id, name, title, needsPostgres } = listed;
  const made = new URL(addressOf(listed));
  const fileOf = (tool: string) => authorsFile(new URL(`${tool}.ts`, made).href);
  const files = { weather: fileOf('weather'), 'work-item': fileOf('work-item') };
  return {
    id,
    name,
    title,
    needsPostgres,
    files,
    hasVersions: /\bdeploys:/.test(readFileSync(new URL('claims.ts', made), 'utf8')),
  };
});
