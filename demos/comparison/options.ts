/** The list of all options, read from the folders `demos/option-*`: a new option is a folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { McpServer, RequestStatePolicy } from '@mrtr/core';
import type { Claims } from './claims.ts';
import type { World } from './world.ts';

/** What an option's `openStore` gets, once for each instance of a deployment. */
export interface StoreOptions {
  /** For request state, and (`legacy`) for old clients. */
  readonly policy: RequestStatePolicy;
  /** This instance's name in the router. */
  readonly instance?: string | undefined;
  /** The connection string of a PostgreSQL. */
  readonly postgres?: string | undefined;
}

/** The calls of an instance that wait for their users: they outlive a request. */
export interface CallStore {
  /** The handlers parked in this instance's memory. */
  readonly parked: number;
  /** Resolves when a database is connected, if there is one. */
  readonly ready?: Promise<unknown>;
  close(): Promise<void>;
}

/** What an option's `server.ts` exports. */
export interface OptionModule {
  /** Makes a server with both tools: for each request on stateless hosting, otherwise for each connection. */
  createServer(world: World, policy: RequestStatePolicy, store?: CallStore): McpServer;
  /** Absent if nothing outlives a request. */
  openStore?(options: StoreOptions): CallStore;
}

/** What an instance of an option runs with. */
export interface OptionDeps extends StoreOptions {
  readonly world: World;
}

/** A running option: one instance of a deployment. */
export interface RunningOption {
  server(): McpServer;
  readonly store?: CallStore | undefined;
  /** The handlers parked in this instance's memory. Absent if the shape does not park handlers. */
  readonly framesHeld?: () => number;
  /** Releases everything that outlives a request. */
  close(): Promise<void>;
}

/** What an option's `package.json` says of it beside its title. The tables show it beside what is measured. */
interface Comparison {
  readonly authorWrites: string;
  readonly sdkDoes: string;
  /** Whether the handler is entered again in a call, and its source does not show it. */
  readonly hiddenReentry: boolean;
}

/** An option in the list. */
export type ListedOption = ReturnType<typeof readOption>;

/** An option that can run, and its claims. */
export interface LoadedOption extends ListedOption {
  readonly claims: Claims;
  create(deps: OptionDeps): RunningOption;
  /** As in its module. */
  readonly openStore: OptionModule['openStore'];
}

interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly comparison: Comparison;
  readonly dependencies: Readonly<Record<string, string>>;
}

const DEMOS = new URL('../', import.meta.url);

/** Every option, in the order of the tables: by letter, and of one letter the variants last. */
export const OPTIONS = readdirSync(DEMOS)
  // Git leaves the `node_modules` of a removed option.
  .filter((folder) => folder.startsWith('option-') && existsSync(new URL(`${folder}/package.json`, DEMOS)))
  .map(readOption)
  .sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));

function readOption(folder: string) {
  const path = new URL(`${folder}/package.json`, DEMOS);
  const { name, description, comparison, dependencies }: Manifest = JSON.parse(readFileSync(path, 'utf8'));
  const id = name.slice('@mrtr/option-'.length);
  const [letter = '', ...variant] = id.split('-');
  const needsPostgres = '@mrtr/linear-dbos' in dependencies;
  return {
    ...comparison,
    /** `g`, or `e-naive` for a variant. */
    id,
    /** Its folder in `demos`: `option-g-tool-builder`. */
    folder,
    /** The word in its folder's name: `tool-builder`. */
    word: folder.slice(`option-${letter}-`.length),
    /** The name in tables: `G`, `H on PostgreSQL`. */
    name: [letter.toUpperCase(), ...(needsPostgres ? ['on PostgreSQL'] : variant)].join(' '),
    /** The shape in a word or two. */
    title: description,
    /** Whether it keeps calls in a database, `StoreOptions.postgres`. */
    needsPostgres,
    /** Whether it stands on the SDK alone, so that nothing seals its state or publishes what it does. */
    isBare: !('@mrtr/core' in dependencies),
  };
}

function rankOf({ id, isBare }: ListedOption) {
  return `${id[0]} ${id.length > 1 ? 1 : 0} ${isBare ? 1 : 0} ${id}`;
}

/** Finds an option by its id (`g`), letter (`G`), demo (`option-g`), folder or word (`tool-builder`). */
export function findOption(name: string) {
  const wanted = name.toLowerCase();
  const id = wanted.replace(/^option-/, '');
  return OPTIONS.find((option) => option.id === id || option.word === id || option.folder === wanted);
}

/** The URL of an option's `server.ts`, to load it in another process. */
export const addressOf = ({ folder }: Pick<ListedOption, 'folder'>) =>
  new URL(`${folder}/server.ts`, DEMOS).href;

/** Loads an option, of the list or by its name. `postgres` keeps its calls, if it needs a database. */
export async function loadOption(option: ListedOption | string, postgres?: string): Promise<LoadedOption> {
  const listed = typeof option === 'string' ? findOption(option) : option;
  if (!listed)
    throw new Error(`There is no option '${option}'. There are: ${OPTIONS.map(({ id }) => id).join(', ')}.`);
  // A type test holds each option to the types that are claimed here.
  const address = addressOf(listed);
  const module: OptionModule = await import(/* @vite-ignore */ address);
  const { claims }: { readonly claims: Claims } = await import(
    /* @vite-ignore */ new URL('claims.ts', address).href
  );
  return {
    ...listed,
    claims,
    openStore: module.openStore,
    create: (deps) => runOption(module, { ...(postgres && { postgres }), ...deps }),
  };
}

/** Loads several options, or all. */
export const loadOptions = (
  listings: readonly ListedOption[] = OPTIONS,
  postgres?: string,
): Promise<readonly LoadedOption[]> => Promise.all(listings.map((one) => loadOption(one, postgres)));

/**
 * Keeps the connections of the options that use a database open, until you call the returned function. For programs that
 * make many short-lived servers: otherwise each would connect again.
 */
export async function keepOpen(options: StoreOptions) {
  const stored = OPTIONS.filter(({ needsPostgres }) => needsPostgres);
  const stores = (await loadOptions(stored)).map(({ openStore }) => openStore?.(options));
  await Promise.all(stores.map((one) => one?.ready));
  return async () => {
    await Promise.all(stores.map((one) => one?.close()));
  };
}

/** Starts one instance of an option. */
function runOption({ createServer, openStore }: OptionModule, { world, ...rest }: OptionDeps): RunningOption {
  const store = openStore?.(rest);
  return {
    server: () => createServer(world, rest.policy, store),
    ...(store && { store, framesHeld: () => store.parked }),
    close: async () => store?.close(),
  };
}
