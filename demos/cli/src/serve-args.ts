/** The command line of `pnpm serve`, and the variables that it names. */
import { isIPv4, isIPv6 } from 'node:net';
import type { LegacyPolicy } from '@mrtr/core';
import { parseTokenList, type TokenHolder } from '@mrtr/hosting/http';
import { InvalidArgumentError, Option, type OptionValues } from 'commander';
import { type Demo, findDemo, LETTERED } from './catalog.ts';
import {
  command,
  further,
  isGiven,
  oneOf,
  parseArgs,
  soleName,
  UsageError,
  unknown,
} from './command-line.ts';
import { withStore } from './database.ts';
import type { Environment, Terminal } from './terminal.ts';

export type ServeSettings = NonNullable<ReturnType<typeof readServeArgs>>;
export type HttpSettings = ReturnType<typeof httpOf>;

const DESCRIPTION = `Serves the two tools of one option to a client of your own: get_weather and
resolve_work_item. A client that is to start it by itself is given
node, and as arguments: <repository>/demos/cli/run.mjs serve <option>

Options go by name, letter or word: option-g, g, tool-builder.`;

const program = () =>
  command('serve <option> [options]', DESCRIPTION)
    .argument('[names...]')
    .option('--stdio', 'one client, over stdin and stdout; this is the default')
    .addOption(
      new Option('--http <port>', 'any number of clients, at http://127.0.0.1:PORT/mcp; 0 is any free port')
        .argParser(portOf)
        .conflicts('stdio'),
    )
    .option('--host <address>', 'where to listen; addresses of other machines take --token-env', '127.0.0.1')
    .option('--allowed-host <name>', 'a further name that requests may be for; may be given again', further)
    .option('--allowed-origin <origin>', 'an origin whose pages may call; may be given again', furtherOrigin)
    .option('--token-env <name>', 'the variable with the access tokens: subject=secret,… or one secret')
    .option('--state-key-env <name>', 'the variable with the keys of request state; the first of them seals')
    .addOption(oneOf('--store <kind>', 'where option-h keeps its calls', ['memory', 'postgres']))
    .option('--postgres <url>', 'a PostgreSQL; otherwise MRTR_POSTGRES, or one that is started')
    .addOption(
      oneOf('--legacy <policy>', "old clients are asked by the SDK's shim, or not", ['shim', 'degrade']),
    )
    .addOption(oneOf('--weather <source>', 'always the same, or from the network', ['fixed', 'open-meteo']))
    .option('--insecure', 'listen on any --host without tokens');

/** Reads the arguments and the variables that they name; undefined for `--help`, which has been printed. */
export function readServeArgs(args: readonly string[], terminal: Pick<Terminal, 'env' | 'stdout'>) {
  const { env } = terminal;
  const line = program();
  if (!parseArgs(line, args, terminal)) return undefined;
  const values = line.opts();
  const demo = optionOf(line.args);
  if (isGiven(line, 'store') && !demo.takes.includes('store')) {
    throw new UsageError(`'${demo.name}' keeps no calls: --store goes with option-h.`);
  }
  const database = withStore(values.store, values.postgres, env);
  const keys = variable('state-key-env', values.stateKeyEnv, env)
    ?.split(',')
    .map((key) => key.trim());
  if (database?.url !== undefined && !keys) {
    throw new UsageError(
      'What is kept in a database is sealed, for other processes to open, with the keys of request state: give ' +
        '--state-key-env NAME.',
    );
  }
  const stray = ['host', 'allowedHost', 'allowedOrigin', 'tokenEnv', 'insecure'].find((flag) =>
    isGiven(line, flag),
  );
  if (values.http === undefined && stray !== undefined) {
    const long = line.options.find((option) => option.attributeName() === stray)?.long;
    throw new UsageError(`${long} goes with --http PORT.`);
  }
  // Undefined for stdio. Without keys there is a random one of the process.
  const http = values.http === undefined ? undefined : httpOf(values, env);
  return { demo, legacy: values.legacy as LegacyPolicy, weather: values.weather, keys, database, http };
}

function optionOf(args: readonly string[]): Demo {
  const names = LETTERED.map(({ id }) => `option-${id}`);
  const name = soleName('option', args, names);
  const demo = findDemo(name);
  if (!demo?.option) throw new UsageError(unknown(`There is no option '${name}'.`, name, 'Names', names));
  return demo;
}

function furtherOrigin(text: string, before?: readonly string[]): readonly string[] {
  if (!URL.canParse(text) || new URL(text).origin !== text || text.includes('*')) {
    throw new InvalidArgumentError('It takes an origin without a path, such as https://app.example.');
  }
  return further(text, before);
}

function portOf(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('It takes a port from 0 to 65535.');
  }
  return Number(text);
}

function variable(flag: string, name: string | undefined, env: Environment): string | undefined {
  if (name === undefined) return undefined;
  // Do not repeat the text: it may be the secret itself.
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    throw new UsageError(`--${flag} takes the name of an environment variable, and not what is in it.`);
  }
  const value = env[name]?.trim();
  if (value === undefined) throw new UsageError(`--${flag}: the environment variable ${name} is not set.`);
  if (value === '') throw new UsageError(`--${flag}: the environment variable ${name} is empty.`);
  return value;
}

function httpOf(values: OptionValues, env: Environment) {
  const host: string = values.host.replace(/^\[(.*)\]$/, '$1');
  if (host === '') throw new UsageError('--host takes an address of this machine.');
  const holders = tokens(variable('token-env', values.tokenEnv, env), values.tokenEnv);
  if (!holders && !values.insecure && !isLoopback(host)) {
    throw new UsageError(
      `On --host ${host} other machines can come in, and nobody would ask who they are. Give --token-env NAME; ` +
        'or --insecure, where something in front of it asks.',
    );
  }
  const names: string[] = ['localhost', '127.0.0.1', '[::1]', ...(values.allowedHost ?? [])];
  if (!isAnyAddress(host)) names.push(isIPv6(host) ? `[${host}]` : host);
  const allowedOrigins: readonly string[] = values.allowedOrigin ?? [];
  return { host, port: values.http as number, allowedHosts: names, allowedOrigins, holders };
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

/** Whether it means all addresses, so that no request can be for it. */
const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::';
