/** The store that keeps the calls. */
import type { CallStore, StoreOptions } from '@mrtr/comparison/options';
import { DbosStore } from '@mrtr/linear-dbos';
import type { LinearStore } from '@mrtr/shapes/linear';

/** A store that can be used while it still opens, because an instance starts synchronously. */
export function openStore(options: StoreOptions): LinearStore & CallStore {
  const opened = open(options);
  let store: DbosStore | undefined;
  opened.then((ready) => {
    store = ready;
  }, report);
  return {
    servesTokensOnce: true,
    ready: opened,
    // The database's error names hosts and roles, so only the operator gets it.
    runRound: async (round) => (await opened.catch(unreachable)).runRound(round),
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

async function open({ policy, postgres }: StoreOptions): Promise<DbosStore> {
  if (postgres === undefined) throw new Error('H on PostgreSQL needs a connection string: `postgres`.');
  return DbosStore.open({ postgres, policy, version: 'mrtr-shapes', onerror: report });
}

const unreachable = (cause: unknown): never => {
  throw new Error('The server cannot reach its stored calls. Nothing of this call has run.', { cause });
};

const report = ({ message }: Error): void => process.emitWarning(message, 'H on PostgreSQL');
