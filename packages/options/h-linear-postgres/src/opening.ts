/** Opens the store that keeps the calls. */
import { DbosStore } from '@mrtr/linear-dbos';
import type { OptionDeps } from '@mrtr/options-contract';
import type { LinearStore } from '@mrtr/shapes/linear';

/**
 * Keeps this process's connections open until you call the returned function. For programs that make many short-lived
 * servers: otherwise each would connect again.
 *
 * @throws Error of the database when it cannot be reached.
 */
export async function keptOpen(deps: Pick<OptionDeps, 'state' | 'postgres'>): Promise<() => Promise<void>> {
  const store = await open(deps);
  return () => store.close();
}

/** A store that can be used while it still opens, because an option is created synchronously. */
export function opening(deps: OptionDeps): LinearStore {
  const opened = open(deps);
  let store: DbosStore | undefined;
  opened.then((ready) => {
    store = ready;
  }, report);
  return {
    servesTokensOnce: true,
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

async function open({ state, postgres }: Pick<OptionDeps, 'state' | 'postgres'>): Promise<DbosStore> {
  if (postgres === undefined) throw new Error('H on PostgreSQL needs a connection string: `deps.postgres`.');
  return DbosStore.open({ postgres, policy: state, version: 'mrtr-shapes', onerror: report });
}

const unreachable = (cause: unknown): never => {
  throw new Error('The server cannot reach its stored calls. Nothing of this call has run.', { cause });
};

const report = ({ message }: Error): void => process.emitWarning(message, 'H on PostgreSQL');
