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
  const effect = settings.tool === 'weather' ? 'audit' : 'write';
  const headings = Object.keys(cellsOf(tally({ events: [] }), effect));
  const answers: string[] = [];
  print(paint('quiet', line('', Object.fromEntries(headings.map((heading) => [heading, heading])))));
  for (const option of LETTERED) {
    const transcript = await playOption(option);
    const answer = answerOf(transcript);
    if (!answers.includes(answer)) answers.push(answer);
    const cells = cellsOf(tally(transcript), effect);
    print(`${line(`${option.name}  ${option.title}`, cells)} (${answers.indexOf(answer) + 1})`);
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

/** What stands beside an option's title, by its heading. */
const cellsOf = (
  { rounds, questions, entries, effects, stateBytes, liveAsks, framesHeld }: Tally,
  effect: 'audit' | 'write',
): Readonly<Record<string, string>> => ({
  rounds: `${rounds}`,
  asked: `${questions}×`,
  entered: `${entries}×`,
  [effect === 'audit' ? 'audited' : 'written']: `${effects[effect] ?? 0}×`,
  state: `${Math.max(0, ...stateBytes)} B`,
  held: liveAsks > 0 ? `stream${framesHeld > 0 ? `+${framesHeld}` : ''}` : `${framesHeld}`,
});

const TITLE_WIDTH = 31;

function line(title: string, cells: Readonly<Record<string, string>>): string {
  const name = clip(title, TITLE_WIDTH);
  // Only `stream+1` is wider than its heading.
  const numbers = Object.entries(cells).map(([heading, text]) =>
    text.padStart(heading === 'held' ? 8 : heading.length),
  );
  return ` ${name}${' '.repeat(TITLE_WIDTH - columns(name))} ${numbers.join(' ')}`;
}

function answerOf({ end }: Transcript): string {
  if (end.error) return `✗ ${end.error.message}`;
  const text = resultText(end.result);
  return end.result.isError ? `✗ ${text}` : text;
}
