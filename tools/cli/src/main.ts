/** `pnpm demo`: prints its title at once, and only then loads the demo. */
import {
  DatabaseError,
  describeDatabase,
  InvalidDatabase,
  withDatabase,
} from '@mrtr/postgres-server/database';
import { readArgs, type Settings } from './args.ts';
import { headingOf } from './catalog.ts';
import { UsageError } from './command-line.ts';
import { paintFor, type Terminal, titleLine } from './terminal.ts';

export async function main(args: readonly string[], terminal: Terminal) {
  const [first, ...more] = args;
  const name = first === 'serve' ? first : 'demo';
  try {
    if (name === 'serve') return await (await import('./serve.ts')).serve(more, terminal);
    if (args.some((arg) => /^--server(?:=|$)/.test(arg))) return await callServer(args, terminal);
    return await demo(args, terminal);
  } catch (error) {
    const usage = error instanceof UsageError || error instanceof InvalidDatabase;
    if (!usage && !(error instanceof DatabaseError)) throw error;
    terminal.stderr.write(`${error.message}\n${usage ? `More: pnpm ${name} --help\n` : ''}`);
    return usage ? 2 : 1;
  }
}

async function callServer(args: readonly string[], terminal: Terminal) {
  const { readServerCall, runServerCall } = await import('./server-call.ts');
  const asked = readServerCall(args, terminal);
  return asked ? runServerCall(asked, { terminal, paint: paintFor(terminal) }) : 0;
}

async function demo(args: readonly string[], terminal: Terminal) {
  const asked = readArgs(args, terminal);
  if (!asked) return 0;
  const paint = paintFor(terminal);
  const { demo, settings } = asked;
  const { database, format, deploy } = settings;
  const write = (text: string) => terminal.stdout.writePainted(text);
  if (format === 'drawing') {
    const title = headingOf(demo, database !== undefined);
    write(`${titleLine(title, demo.where ?? circumstances(settings), paint)}\n\n`);
    if (database) write(` ${paint('quiet', describeDatabase(database))}\n\n`);
  }
  const run = async (postgres?: string) => {
    const context = { terminal, paint, postgres };
    const { runDemo, runDeploy } = await import('./run-demo.ts');
    return deploy === undefined ? runDemo(demo, settings, context) : runDeploy(demo, deploy, format, context);
  };
  return database ? withDatabase(database, run) : run();
}

function circumstances({ client, hosting, legacy, database, deploy }: Settings) {
  if (deploy !== undefined) return 'two versions of a tool';
  const here = database ? 'one process' : 'in memory';
  const where = hosting === 'memory' ? here : 'fleet of three';
  return `${client} client${client === 'legacy' ? `, ${legacy}` : ''} · ${where}`;
}
