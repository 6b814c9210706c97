/** `pnpm demo`: says at once what it is about to do, and loads what that takes only then. */
import { type Command, HELP, readArgs, type Settings } from './args.ts';
import { headingOf, TITLES } from './catalog.ts';
import { DatabaseError, described, withDatabase } from './database.ts';
import { titleLine } from './frame.ts';
import { paintFor } from './paint.ts';
import { UsageError } from './usage-error.ts';

// Whoever reads us may stop early, as `head` does; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

async function main(args: readonly string[]): Promise<void> {
  if (args[0] === 'serve') {
    const { serve } = await import('./serve.ts');
    process.exitCode = await serve(args.slice(1));
    return;
  }
  if (args[0] === 'matrix') {
    const { matrix } = await import('./matrix.ts');
    process.exitCode = await matrix(args.slice(1));
    return;
  }
  const command = readArgs(args, process.env);
  if (command.kind === 'help') return write(HELP);
  if (command.kind === 'list') {
    const width = Math.max(...Object.keys(TITLES).map((name) => name.length));
    const lines = Object.entries(TITLES).map(([name, title]) => `${name.padEnd(width)}  ${title}\n`);
    return write(lines.join(''));
  }
  if (command.kind === 'fixed') return runFixed(command);
  const paint = paintFor(process.stdout);
  const { settings } = command;
  const { database } = settings;
  const title =
    command.kind === 'all'
      ? `every option · ${settings.tool}`
      : headingOf(command.name, database && 'postgres');
  if (!settings.json) write(`${titleLine(title, circumstances(settings), paint)}\n\n`);
  if (command.kind === 'all') {
    const { runAll } = await import('./all.ts');
    return runAll(settings, paint);
  }
  const { runDemo } = await import('./run-demo.ts');
  const run = () => runDemo(command.name, settings, paint);
  if (!database) return run();
  if (!settings.json) write(` ${paint('quiet', described(database))}\n\n`);
  return withDatabase(database, run);
}

async function runFixed({ name, database }: Command & { readonly kind: 'fixed' }): Promise<void> {
  if (name === 'sticky') {
    const { sticky } = await import('@mrtr/demo-sticky');
    process.exitCode = await sticky();
    return;
  }
  const paint = paintFor(process.stdout);
  if (database) {
    write(`${titleLine(`${name} · ${TITLES[name]}`, '', paint)}\n`);
    write(` ${paint('quiet', described(database))}\n`);
    const { fleetOfThree } = await import('@mrtr/demo-fleet-of-three');
    process.exitCode = await withDatabase(database, () => fleetOfThree(write, paint));
    return;
  }
  write(`${titleLine('tracing · one call, two rounds', 'modern client · in memory', paint)}\n\n`);
  const { tracing } = await import('./tracing.ts');
  return tracing(paint);
}

function write(text: string): void {
  process.stdout.write(text);
}

function circumstances({ client, hosting, legacy, database }: Settings): string {
  const here = database ? 'one process' : 'in memory';
  const where = hosting === 'memory' ? here : 'fleet of three';
  return `${client} client${client === 'legacy' ? `, ${legacy}` : ''} · ${where}`;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const usage = error instanceof UsageError;
  if (!usage && !(error instanceof DatabaseError)) throw error;
  process.stderr.write(`${error.message}\n${usage ? 'More: pnpm demo --help\n' : ''}`);
  process.exitCode = usage ? 2 : 1;
}
