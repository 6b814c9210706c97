/** Declares options and reports mistakes, for all three commands. */
import { Command, CommanderError, Option } from 'commander';
import type { Terminal } from './terminal.ts';

/** A wrong command line. The message names what exists; the exit code is 2. */
export class UsageError extends Error {}

/** A command that throws instead of ending the process as commander does, with a help that fits a terminal. */
export const command = (usage: string, description: string): Command =>
  new Command('pnpm')
    .usage(usage)
    .description(description)
    .helpOption('-h, --help', 'print this')
    .exitOverride()
    .configureHelp({ helpWidth: 80 });

export const oneOf = (flags: string, description: string, values: readonly [string, ...string[]]): Option =>
  new Option(flags, description).choices(values).default(values[0]);

/** For an option that may be given again. */
export const further = (value: string, before: readonly string[] = []) => [...before, value];

/** False for `--help`, which has been printed. Throws a UsageError for what commander refuses. */
export function parseArgs(
  program: Command,
  args: readonly string[],
  { stdout }: Pick<Terminal, 'stdout'>,
): boolean {
  program.configureOutput({ writeErr: () => {}, writeOut: (text) => stdout.write(text) });
  try {
    // Some package managers pass a literal `--` on. It means nothing here.
    program.parse(
      args.filter((arg) => arg !== '--'),
      { from: 'user' },
    );
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return false;
    const [what = '', hint = ''] = error.message.replace(/^error: /, '').split('\n');
    const known = program.options.map(({ long }) => long).join(', ');
    const exists = error.code === 'commander.unknownOption' ? ` Options: ${known}, --help.` : '';
    const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/\.?$/, '.');
    throw new UsageError(`${sentence}${hint && ` ${hint}`}${exists}`);
  }
}

/** A name that does not exist, with those that were meant, and all that exist. */
export const unknown = (sentence: string, typed: string, what: string, names: readonly string[]): string =>
  `${sentence}${didYouMean(typed, names)} ${exists(what, names)}`;

/** ` (Did you mean basic?)`, or nothing: commander suggests only subcommands and options. */
function didYouMean(typed: string, names: readonly string[]): string {
  const program = new Command()
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  try {
    for (const name of new Set(names)) program.command(name);
    program.parse([typed.toLowerCase()], { from: 'user' });
    return '';
  } catch (error) {
    const [, hint] = (error as Error).message.split('\n');
    return hint ? ` ${hint}` : '';
  }
}

export const exists = (what: string, names: readonly string[]): string => `${what}: ${names.join(', ')}.`;

export function soleName(what: string, [name, ...more]: readonly string[], names: readonly string[]): string {
  if (name === undefined) throw new UsageError(`Which ${what}? ${exists('Names', names)}`);
  if (more.length > 0) throw new UsageError(`Run one ${what} at a time; remove '${more[0]}'.`);
  return name;
}

export const isGiven = (program: Command, option: string): boolean =>
  program.getOptionValueSource(option) === 'cli';
