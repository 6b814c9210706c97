/** `pnpm demo`: prints its title at once, and only then loads the demo. */
import { type Asked, readArgs, type Settings } from './args.ts';
import { DEMOS, headingOf } from './catalog.ts';
import { UsageError } from './command-line.ts';
import { DatabaseError, describeDatabase, withDatabase } from './database.ts';
import { paintFor } from './paint.ts';
import type { Terminal } from './terminal.ts';
import { titleLine } from './title-line.ts';

export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...more] = args;
  const name = first === 'serve' || first === 'matrix' ? first : 'demo';
  try {
    if (name === 'serve') return await (await import('./serve.ts')).serve(more, terminal);
    if (name === 'matrix') return await (await import('./matrix.ts')).matrix(more, terminal);
    return await demo(readArgs(args, terminal), terminal);
  } catch (error) {
    const usage = error instanceof UsageError;
    if (!usage && !(error instanceof DatabaseError)) throw error;
    terminal.stderr.write(`${error.message}\n${usage ? `More: pnpm ${name} --help\n` : ''}`);
    return usage ? 2 : 1;
  }
}

async function demo(asked: Asked, terminal: Terminal): Promise<number> {
  const write = (text: string) => void terminal.stdout.write(text);
  if (!asked) return 0;
  if ('list' in asked) {
    const width = Math.max(...DEMOS.map((one) => one.name.length));
    for (const one of DEMOS) write(`${one.name.padEnd(width)}  ${one.title}\n`);
    return 0;
  }
  const paint = paintFor(terminal);
  if ('server' in asked) {
    return (await import('./run-server-call.ts')).runServerCall(asked, { terminal, paint });
  }
  const { demo, settings } = asked;
  const { database, format } = settings;
  if (demo.name === 'sticky')
    return (await import('@mrtr/demo-sticky')).sticky({
      out: write,
      err: (text) => void terminal.stderr.write(text),
    });
  if (demo.name === 'tracing') {
    write(`${titleLine('tracing · one call, two rounds', 'modern client · in memory', paint)}\n\n`);
    return (await import('./tracing.ts')).tracing(paint, write);
  }
  const fleet = demo.name === 'fleet-of-three';
  if (format === 'drawing') {
    const title =
      demo.name === 'all' ? `every option · ${settings.tool}` : headingOf(demo, database && !fleet);
    write(
      `${titleLine(title, fleet ? '' : (demo.where ?? circumstances(settings)), paint)}\n${fleet ? '' : '\n'}`,
    );
    if (database) write(` ${paint('quiet', describeDatabase(database))}\n${fleet ? '' : '\n'}`);
  }
  const run = async (postgres?: string): Promise<number> => {
    if (fleet)
      return (await import('@mrtr/demo-fleet-of-three')).fleetOfThree(write, postgres as string, paint);
    if (demo.name === 'all') return (await import('./all.ts')).runAll(settings, paint, write);
    const stage = { terminal, paint, postgres };
    if (demo.name === 'approve') return (await import('./approve.ts')).approve(stage, settings.shape);
    const { deploy } = settings;
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
