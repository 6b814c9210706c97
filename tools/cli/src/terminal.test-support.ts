/** A terminal without a screen, for commands that run in this process. */
import { PassThrough } from 'node:stream';
import type { Transcript } from '@mrtr/harness/transcript';
import { diagramOf } from './diagram.ts';
import { main } from './main.ts';
import { type Environment, type Paint, plain, type Terminal, terminalOf } from './terminal.ts';

export function terminalWith(
  typed = '',
  env: Environment = {},
): Terminal & { said(): { out: string; err: string }; exited: number[] } {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(typed);
  const said = { out: '', err: '' };
  const exited: number[] = [];
  stdout.on('data', (text) => {
    said.out += text;
  });
  stderr.on('data', (text) => {
    said.err += text;
  });
  const exit = (code: number) => void exited.push(code);
  return { ...terminalOf({ stdin, stdout, stderr, env, exit }), exited, said: () => said };
}

export async function run(
  line: string | readonly string[],
  { typed = '', env = {} }: { typed?: string; env?: Environment } = {},
) {
  const terminal = terminalWith(typed, env);
  const args = typeof line === 'string' ? line.split(' ').filter(Boolean) : line;
  const code = await main(args, terminal);
  return { code, ...terminal.said() };
}

/** The drawing of a whole conversation. */
export function diagram(transcript: Transcript, paint: Paint = plain) {
  const people = transcript.participants.filter(({ kind }) => kind === 'person');
  const drawing = diagramOf(paint, true, people);
  const rows = transcript.events.flatMap((event) => drawing.next(event));
  return [...drawing.begin(), ...rows, ...drawing.end(transcript)];
}
