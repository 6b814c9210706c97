/** Reads the command line of `pnpm serve` and its environment variables. */
import type { RequestStateOptions } from '@mrtr/core';
import { listVerifier } from '@mrtr/hosting/http';
import { databaseOf } from '@mrtr/postgres-server/database';
import { Argument, InvalidArgumentError, Option } from 'commander';
import { DEMOS, type ListedDemo, optionDemo } from './catalog.ts';
import { command, oneOf, parseArgs, UsageError } from './command-line.ts';
import type { Environment, Terminal } from './terminal.ts';

export type ServeSettings = NonNullable<ReturnType<typeof readServeArgs>>;

const DESCRIPTION = `Serves the two tools of one option to a client of your own, on this machine:
get_weather and resolve_work_item. A client that is to start it by itself is
given node, and as arguments: <repository>/tools/cli/run.mjs serve <option>

Options go by name, letter or word: option-g, g, tool-builder.`;

const program = (terminal: Pick<Terminal, 'stdout'>) =>
  command('serve', '<option> [options]', DESCRIPTION, terminal)
    .addArgument(new Argument('<option>').argParser(optionNamed))
    .option('--stdio', 'one client, over stdin and stdout; this is the default')
    .addOption(
      new Option('--http <port>', 'any number of clients, at http://127.0.0.1:PORT/mcp; 0 is any free port')
        .argParser(portOf)
        .conflicts('stdio'),
    )
    .option('--token-env <name>', 'the variable with the access tokens: subject=secret,… or one secret')
    .option('--state-key-env <name>', 'the variable with the keys of request state; the first of them seals')
    .option(
      '--postgres [url]',
      'keep calls of option-h in this PostgreSQL, in that of MRTR_POSTGRES, or in one that is started',
    )
    .addOption(
      oneOf('--legacy <policy>', "old clients are asked by the SDK's shim, or not", ['shim', 'degrade']),
    );

/** Reads the arguments and the variables that they name; undefined for `--help`, which has been printed. */
export function readServeArgs(args: readonly string[], terminal: Pick<Terminal, 'env' | 'stdout'>) {
  const { env } = terminal;
  const line = program(terminal);
  if (!parseArgs(line, args)) return undefined;
  const { http: port, tokenEnv, stateKeyEnv, postgres, legacy } = line.opts();
  const [demo] = line.processedArgs as [ListedDemo];
  if (postgres !== undefined && !demo.takes.includes('postgres')) {
    throw new UsageError(`'${demo.name}' keeps no calls: --postgres goes with option-h.`);
  }
  const database = postgres === undefined ? undefined : databaseOf(postgres, env);
  const keys = variable('state-key-env', stateKeyEnv, env)
    ?.split(',')
    .map((key) => key.trim());
  if (database?.url !== undefined && !keys) {
    throw new UsageError(
      'What is kept in a database is sealed, for other processes to open, with the keys of request state: give ' +
        '--state-key-env NAME.',
    );
  }
  if (port === undefined && tokenEnv !== undefined) {
    throw new UsageError('--token-env goes with --http PORT.');
  }
  const verifier = verifierOf(variable('token-env', tokenEnv, env), tokenEnv);
  // Undefined for stdio. Without keys, the process has a random one.
  const http = port === undefined ? undefined : { port: port as number, verifier };
  return { demo, legacy: legacy as RequestStateOptions['legacy'] & string, keys, database, http };
}

function optionNamed(name: string) {
  const demo = optionDemo(name);
  if (demo) return demo;
  const names = DEMOS.filter(({ option }) => option).map((one) => one.name);
  throw new InvalidArgumentError(`It takes the name of an option: ${names.join(', ')}.`);
}

function portOf(text: string) {
  if (!/^\d+$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('It takes a port from 0 to 65535.');
  }
  return Number(text);
}

function variable(flag: string, name: string | undefined, env: Environment) {
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

function verifierOf(list: string | undefined, name: string | undefined) {
  try {
    return list === undefined ? undefined : listVerifier(list);
  } catch (error) {
    throw new UsageError(`--token-env: ${name} cannot be read. ${(error as Error).message}`);
  }
}
