/** Declares commands and reports mistakes, for all of them. */
import { Command, CommanderError, Option, type OptionValues } from 'commander';
import type { Terminal } from './terminal.ts';

/** A wrong command line. The message says what exists; the exit code is 2. */
export class UsageError extends Error {}

/** A drawing for the terminal, the transcript, or the transcript as a Mermaid diagram. */
export type Format = 'drawing' | 'json' | 'mermaid';

export const jsonOption = () =>
  new Option('--json', 'print the transcript, and nothing else').conflicts('mermaid');

export const formatOf = ({ json, mermaid }: OptionValues): Format =>
  json ? 'json' : mermaid ? 'mermaid' : 'drawing';

/** Makes a command that throws, where commander would end the process. Its help fits a terminal. */
export const command = (
  name: string,
  usage: string,
  description: string,
  { stdout }: Pick<Terminal, 'stdout'>,
) =>
  new Command(`pnpm ${name}`)
    .usage(usage)
    .description(description)
    .helpOption('-h, --help', 'print this')
    .helpCommand(false)
    .allowExcessArguments(false)
    .exitOverride()
    .configureHelp({ helpWidth: 80 })
    .configureOutput({ writeErr: () => {}, writeOut: (text) => stdout.write(text) });

export const oneOf = (flags: string, description: string, values: readonly [string, ...string[]]) =>
  new Option(flags, description).choices(values).default(values[0]);

/** Returns false for `--help`, after printing it. Throws a UsageError for a wrong command line. */
export function parseArgs(program: Command, args: readonly string[]) {
  try {
    // Some package managers pass on a literal `--`. Ignore it.
    program.parse(
      args.filter((arg) => arg !== '--'),
      { from: 'user' },
    );
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return false;
    if (error.code === 'commander.help') throw new UsageError(describeCommands(program));
    const [what = '', hint] = error.message.replace(/^error: /, '').split('\n');
    const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/\.?$/, '.');
    throw new UsageError(hint ? `${sentence} ${hint}` : sentence);
  }
}

function describeCommands({ commands }: Command) {
  const width = Math.max(...commands.map((one) => one.name().length));
  const lines = commands.map((one) => `  ${one.name().padEnd(width)}  ${one.description()}\n`);
  return `Name one of them, as in \`pnpm demo basic\`.\n\n${lines.join('')}`;
}
