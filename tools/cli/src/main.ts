/** `pnpm demo`: prints its title at once, and only then loads the demo. */
import { readArgs } from './args.ts';
import { headingOf } from './catalog.ts';
import { UsageError } from './command-line.ts';
import { DatabaseError, describeDatabase, withDatabase } from './database.ts';
import { paintFor } from './paint.ts';
import type { Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { titleLine } from './title-line.ts';

export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...more] = args;
  const name = first === 'serve' || first === 'matrix' ? first : 'demo';
  try {
    if (name === 'serve') return await (await import('./serve.ts')).serve(more, terminal);
    if (name === 'matrix') return await (await import('./matrix.ts')).matrix(more, terminal);
    return await demo(args, terminal);
  } catch (error) {
    const usage = error instanceof UsageError;
    if (!usage && !(error instanceof DatabaseError)) throw error;
    terminal.stderr.write(`${error.message}\n${usage ? `More: pnpm ${name} --help\n` : ''}`);
    return usage ? 2 : 1;
  }
}

async function demo(args: readonly string[], terminal: Terminal): Promise<number> {
  const asked = readArgs(args, terminal);
  if (!asked) return 0;
  const paint = paintFor(terminal);
  if ('server' in asked) {
    return (await import('./run-server-call.ts')).runServerCall(asked, { terminal, paint });
  }
  const { demo, settings } = asked;
  const { database, format, deploy } = settings;
  const write = (text: string) => terminal.stdout.writePainted(text);
  if (format === 'drawing') {
    const title = headingOf(demo, database !== undefined);
    write(`${titleLine(title, demo.where ?? circumstances(settings), paint)}\n\n`);
    if (database) write(` ${paint('quiet', describeDatabase(database))}\n\n`);
  }
  const run = async (postgres?: string): Promise<number> => {
    const stage = { terminal, paint, postgres };
    if (demo.drawItself) return demo.drawItself(stage, settings);
    const { runDemo, runDeploy } = await import('./run-demo.ts');
    return deploy === undefined ? runDemo(demo, settings, stage) : runDeploy(demo, { deploy, format }, stage);
  };
  return database ? withDatabase(database, run) : run();
}

function circumstances({ client, hosting, legacy, database, deploy }: Settings): string {
  if (deploy !== undefined) return 'two versions of a tool';
  const here = database ? 'one process' : 'in memory';
  const where = hosting === 'memory' ? here : 'fleet of three';
  return `${client} client${client === 'legacy' ? `, ${legacy}` : ''} · ${where}`;
}
