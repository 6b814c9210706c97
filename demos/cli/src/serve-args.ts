/** The command line of `pnpm serve`, and what it reads from the environment. */
import { isIPv4, isIPv6 } from 'node:net';
import { parseArgs } from 'node:util';
import type { LegacyPolicy } from '@mrtr/core';
import { parseTokenList, type TokenHolder } from '@mrtr/hosting/http';
import { databaseWith } from './args.ts';
import { OPTION_NAMES, type OptionName } from './catalog.ts';
import type { Database } from './database.ts';
import { UsageError, whatIsWrong } from './usage-error.ts';

/** What to serve, and how. */
export interface ServeSettings {
  readonly option: OptionName;
  readonly legacy: LegacyPolicy;
  readonly weather: 'fixed' | 'open-meteo';
  /** Secrets of request state, the sealing one first; undefined for a random one of the process. */
  readonly keys: readonly string[] | undefined;
  /** Where the calls of option H are kept; undefined for the memory of this process. */
  readonly database: Database | undefined;
  /** Undefined for stdio. */
  readonly http: HttpSettings | undefined;
}

/** Where to listen, and to whom. */
export interface HttpSettings {
  readonly host: string;
  readonly port: number;
  /** Names that requests may be for. */
  readonly allowedHosts: readonly string[];
  /** Whose tokens are known; undefined where nobody is asked for one. */
  readonly holders: readonly TokenHolder[] | undefined;
}

/** The text of `--help`. */
export const SERVE_HELP = `Usage: pnpm serve <option> [options]

Serves the two tools of one option to a client of your own: get_weather and
resolve_work_item. A client that is to start it by itself is given
node, and as arguments: <repository>/demos/cli/run.mjs serve <option>

Options, by name or letter: ${OPTION_NAMES[0]} … ${OPTION_NAMES.at(-1)}

  --stdio                one client, over stdin and stdout; this is the default
  --http PORT            any number of clients, at http://127.0.0.1:PORT/mcp;
                         0 is any free port; /healthz says whether it serves
  --host ADDRESS         where to listen                    (default: 127.0.0.1)
                         addresses of this machine alone; any other one
                         takes --token-env, or --insecure
  --allowed-host NAME    a further name that requests may be for, as behind a
                         proxy; may be given several times
  --token-env NAME       the environment variable with the access tokens:
                         subject=secret,subject=secret, or one secret
  --state-key-env NAME   the environment variable with the keys of request
                         state: one of 32 bytes or more, or several with
                         commas between, of which the first seals
  --store memory | postgres                               (default: memory)
                         where option-h keeps its calls
  --postgres URL         a PostgreSQL to use, with --state-key-env; otherwise
                         what MRTR_POSTGRES names, or one that is started
                         and is over with this process
  --legacy shim | degrade                                   (default: shim)
                         old clients are asked by the SDK's shim, or not
  --weather fixed | open-meteo                              (default: fixed)
                         always the same, or real and from the network
  --insecure             listens on any --host without tokens
  --help                 prints this
`;

/**
 * Reads the arguments after `serve`, and the variables of `env` that they name.
 *
 * @returns undefined for `--help`.
 * @throws UsageError for what does not exist, is missing, or does not go together.
 */
export function readServeArgs(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ServeSettings | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const option = optionOf(positionals);
  const store = choice('store', values.store, ['memory', 'postgres']);
  const database = databaseWith(store, { ...values, name: option }, env);
  const keys = variable('state-key-env', values['state-key-env'], env)
    ?.split(',')
    .map((key) => key.trim());
  if (database?.url !== undefined && !keys) {
    throw new UsageError(
      'What is kept in a database is sealed, for other processes to open, with the keys of request state: give ' +
        '--state-key-env NAME.',
    );
  }
  return {
    option,
    legacy: choice('legacy', values.legacy, ['shim', 'degrade']),
    weather: choice('weather', values.weather, ['fixed', 'open-meteo']),
    keys,
    database,
    http: httpOf(values, env),
  };
}

const FLAGS = {
  stdio: { type: 'boolean' },
  http: { type: 'string' },
  host: { type: 'string' },
  'allowed-host': { type: 'string', multiple: true },
  'token-env': { type: 'string' },
  'state-key-env': { type: 'string' },
  store: { type: 'string' },
  postgres: { type: 'string' },
  legacy: { type: 'string' },
  weather: { type: 'string' },
  insecure: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parse>['values'];

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== '--'),
      options: FLAGS,
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const flags = Object.keys(FLAGS).map((flag) => `--${flag}`);
    throw new UsageError(`${whatIsWrong(error)} Options: ${flags.join(', ')}.`);
  }
}

function optionOf([name, ...more]: readonly string[]): OptionName {
  const exist = `Options: ${OPTION_NAMES.join(', ')}.`;
  if (name === undefined) throw new UsageError(`Which option? ${exist}`);
  const known = OPTION_NAMES.find((option) => [option, option.slice('option-'.length)].includes(name));
  if (!known) throw new UsageError(`There is no option '${name}'. ${exist}`);
  if (more.length > 0) throw new UsageError(`One option at a time: '${more[0]}' is one too many.`);
  return known;
}

function choice<T extends string>(
  flag: string,
  value: string | undefined,
  known: readonly [T, ...(readonly T[])],
): T {
  const chosen = value === undefined ? known[0] : known.find((candidate) => candidate === value);
  if (chosen === undefined)
    throw new UsageError(`--${flag} cannot be '${value}'. Values: ${known.join(', ')}.`);
  return chosen;
}

function variable(
  flag: string,
  name: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (name === undefined) return undefined;
  // Not repeated: it may well be the secret itself.
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    throw new UsageError(`--${flag} takes the name of an environment variable, and not what is in it.`);
  }
  const value = env[name]?.trim();
  if (value === undefined) throw new UsageError(`--${flag}: the environment variable ${name} is not set.`);
  if (value === '') throw new UsageError(`--${flag}: the environment variable ${name} is empty.`);
  return value;
}

const HTTP_ONLY = ['host', 'allowed-host', 'token-env', 'insecure'] as const;

function httpOf(values: Values, env: Readonly<Record<string, string | undefined>>): HttpSettings | undefined {
  if (values.http === undefined) {
    const stray = HTTP_ONLY.find((flag) => values[flag] !== undefined);
    if (stray) throw new UsageError(`--${stray} goes with --http PORT.`);
    return undefined;
  }
  if (values.stdio) throw new UsageError('Either --stdio or --http PORT.');
  const port = Number(values.http);
  if (!/^\d+$/.test(values.http) || port > 65_535)
    throw new UsageError(`--http takes a port from 0 to 65535; '${values.http}' is none.`);
  const host = (values.host ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1');
  if (host === '') throw new UsageError('--host takes an address of this machine.');
  const holders = tokens(variable('token-env', values['token-env'], env), values['token-env']);
  if (!holders && !values.insecure && !isLoopback(host)) {
    throw new UsageError(
      `On --host ${host} other machines can come in, and nobody would ask who they are. Give --token-env NAME; ` +
        'or --insecure, where something in front of it asks.',
    );
  }
  const names = ['localhost', '127.0.0.1', '[::1]', ...(values['allowed-host'] ?? [])];
  if (!isAnyAddress(host)) names.push(isIPv6(host) ? `[${host}]` : host);
  return { host, port, allowedHosts: names, holders };
}

function tokens(list: string | undefined, name: string | undefined): readonly TokenHolder[] | undefined {
  try {
    return list === undefined ? undefined : parseTokenList(list);
  } catch (error) {
    throw new UsageError(`--token-env: ${name} cannot be read. ${(error as Error).message}`);
  }
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

/** Whether it is no address but all of them, which no request is for. */
const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::';
