/** `all`: makes the same call to every option, prints a line for each, and their results below. */
import { resultText, type Tally, type Transcript, tally } from '@mrtr/harness/transcript';
import { type ListedOption, loadOption } from '@mrtr/options';
import type { Settings } from './args.ts';
import { LETTERED } from './catalog.ts';
import type { Paint } from './paint.ts';
import { clip, columns, wrap } from './printable.ts';
import { play } from './run-demo.ts';
import { optionScene } from './scene.ts';
import { WIDTH } from './title-line.ts';

/** Prints the table line by line, as the conversations end; or, as JSON, every option's transcript by its name. */
export async function runAll(
  settings: Settings,
  paint: Paint,
  write: (text: string) => void,
): Promise<number> {
  const print = (text: string) => write(`${text}\n`);
  const playOption = async (option: ListedOption) =>
    play(await loadOption(option), settings, optionScene(settings));
  if (settings.format === 'json') {
    const transcripts: Record<string, Transcript> = {};
    for (const option of LETTERED) transcripts[`option-${option.id}`] = await playOption(option);
    print(JSON.stringify(transcripts, undefined, 2));
    return 0;
  }
  const table = columnsWith(settings.tool === 'weather' ? 'audited' : 'written');
  const answers: string[] = [];
  print(paint('quiet', line('', Object.keys(table), table)));
  for (const option of LETTERED) {
    const transcript = await playOption(option);
    const answer = answerOf(transcript);
    if (!answers.includes(answer)) answers.push(answer);
    const cells = Object.values(table).map(({ cell }) => cell(tally(transcript)));
    print(`${line(`${option.name}  ${option.title}`, cells, table)} (${answers.indexOf(answer) + 1})`);
  }
  print('');
  for (const [at, answer] of answers.entries()) {
    const role = answer.startsWith('✗') ? 'error' : 'result';
    for (const [row, text] of wrap(answer, WIDTH - 8).entries()) {
      print(`  ${paint('quiet', row === 0 ? `(${at + 1})` : '   ')} ${paint(role, text)}`);
    }
  }
  return 0;
}

interface Column {
  readonly width: number;
  readonly cell: (tally: Tally) => string;
}

const columnsWith = (effect: 'audited' | 'written'): Readonly<Record<string, Column>> => ({
  rounds: { width: 6, cell: ({ rounds }) => `${rounds}` },
  asked: { width: 5, cell: ({ questions }) => `${questions}×` },
  entered: { width: 7, cell: ({ entries }) => `${entries}×` },
  [effect]: {
    width: 7,
    cell: ({ effects }) => `${effects[effect === 'audited' ? 'audit' : 'write'] ?? 0}×`,
  },
  state: { width: 5, cell: ({ stateBytes }) => `${Math.max(0, ...stateBytes)} B` },
  held: {
    width: 8,
    cell: ({ liveAsks, framesHeld }) =>
      liveAsks > 0 ? `stream${framesHeld > 0 ? `+${framesHeld}` : ''}` : `${framesHeld}`,
  },
});

const TITLE_WIDTH = 31;

function line(title: string, cells: readonly string[], table: Readonly<Record<string, Column>>): string {
  const widths = Object.values(table).map(({ width }) => width);
  const name = clip(title, TITLE_WIDTH);
  const numbers = cells.map((text, at) => text.padStart(widths[at] ?? 0)).join(' ');
  return ` ${name}${' '.repeat(TITLE_WIDTH - columns(name))} ${numbers}`;
}

function answerOf({ end }: Transcript): string {
  if (end.error) return `✗ ${end.error.message}`;
  const text = resultText(end.result);
  return end.result.isError ? `✗ ${text}` : text;
}
