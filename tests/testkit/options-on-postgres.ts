/** Every option, loaded, with a database for those that store calls. */
import { randomBytes } from 'node:crypto';
import {
  addressOf,
  findOption,
  keepOpen,
  type ListedOption,
  type LoadedOption,
  loadOptions,
  OPTIONS,
} from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';

const { database, missing } = await postgresOfTheRun();

/** The options that run here. Without PostgreSQL, those that need it are skipped by name. */
export const LISTED: readonly ListedOption[] = OPTIONS.filter(
  ({ needsPostgres }) => !needsPostgres || missing === undefined,
);

export interface OptionsOnPostgres {
  readonly options: readonly LoadedOption[];
  /** The URL of an option's module, to load it in another process. */
  readonly locate: (subject: { readonly id: string }) => {
    readonly module: string;
    readonly postgres?: string;
  };
  close(): Promise<void>;
}

/** Loads the options, with a new database. `close` ends its connections. */
export async function optionsOnPostgres(): Promise<OptionsOnPostgres> {
  const postgres = missing === undefined ? await database() : undefined;
  const policy = requestStatePolicy({ keys: [randomBytes(32)], singleUse: false });
  const close = postgres === undefined ? async () => {} : await keepOpen({ policy, postgres });
  return {
    options: await loadOptions(LISTED, postgres),
    locate: ({ id }) => {
      const listed = findOption(id) as ListedOption;
      return { module: addressOf(listed), ...(listed.needsPostgres && postgres && { postgres }) };
    },
    close,
  };
}
