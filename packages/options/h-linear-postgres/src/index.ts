import { requestStatePolicy } from '@mrtr/core';
import { DbosStore } from '@mrtr/linear-dbos';
import { option as inMemory, linearOption } from '@mrtr/option-h';
import type { LinearStore } from '@mrtr/shapes/linear';
import type { Option, OptionDeps } from '@mrtr/tools';

/** The environment variable with the connection string of the database that holds the calls. */
export const POSTGRES_VARIABLE = 'MRTR_POSTGRES';

const { modern, legacy } = inMemory.claims;

/** H on PostgreSQL: the tools of `option-h` as they are, on a store that any instance can go on from. */
export const postgres: Option = linearOption(opening, {
  id: 'h-postgres',
  name: 'H on PostgreSQL',
  title: inMemory.title,
  claims: {
    modern: {
      ...modern,
      stateBytes: { get_weather: [150], resolve_work_item: [150, 150] },
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
    },
    legacy,
  },
});

/**
 * Keeps the connections of this process until the returned function is called. For whoever makes many short-lived
 * servers of the option: each would make its own.
 *
 * @throws Error of the database when it cannot be reached.
 */
export async function keptOpen(): Promise<() => Promise<void>> {
  const store = await open({ state: requestStatePolicy({ keys: ['not for any call'.repeat(2)] }) });
  return () => store.close();
}

/** A store that is there at once, and opens meanwhile: an option is made in no time, and a database takes its time. */
function opening(deps: OptionDeps): LinearStore {
  const opened = open(deps);
  let store: DbosStore | undefined;
  opened.then((ready) => {
    store = ready;
  }, report);
  return {
    // Why it did not open is for the operator: the database's own words name hosts and roles.
    round: async (round) => (await opened.catch(unreachable)).round(round),
    get parked() {
      return store?.parked ?? 0;
    },
    async close() {
      await opened.then(
        (ready) => ready.close(),
        () => {},
      );
    },
  };
}

async function open({ state }: Pick<OptionDeps, 'state'>): Promise<DbosStore> {
  const url = process.env[POSTGRES_VARIABLE];
  if (url === undefined) throw new Error(`H on PostgreSQL needs ${POSTGRES_VARIABLE}, a connection string.`);
  return DbosStore.open({ postgres: url, policy: state, version: 'mrtr-shapes', onerror: report });
}

const unreachable = (cause: unknown): never => {
  throw new Error('The calls of this server cannot be reached. Nothing of this one has run.', { cause });
};

const report = ({ message }: Error): void => process.emitWarning(message, 'H on PostgreSQL');
