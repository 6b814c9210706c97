/** `all`: the same call to every option, one line each, and below the lines what they answered. */
import type { Conversation } from '@mrtr/harness';
import type { Settings } from './args.ts';
import { letterOf, loadOption, OPTION_NAMES, type OptionName, titleOf } from './catalog.ts';
import { count } from './counts.ts';
import { WIDTH } from './frame.ts';
import type { Paint } from './paint.ts';
import { clip, columns, wrap } from './printable.ts';
import { play } from './run-demo.ts';
import { optionScene } from './scene.ts';
import { type JsonObject, resultText } from './wire-text.ts';

/** Prints the table, line by line as the conversations end; with `json`, every option's transcript by its name. */
export async function runAll(settings: Settings, paint: Paint): Promise<void> {
  if (settings.json) {
    const transcripts: Partial<Record<OptionName, Conversation['transcript']>> = {};
    for (const name of OPTION_NAMES) {
      transcripts[name] = (await playOption(name, settings)).transcript;
    }
    return print(JSON.stringify(transcripts, undefined, 2));
  }
  const table = settings.tool === 'weather' ? columnsWith('audited') : columnsWith('written');
  const answers: string[] = [];
  print(paint('quiet', line('', Object.keys(table), table)));
  for (const name of OPTION_NAMES) {
    const conversation = await playOption(name, settings);
    const answer = answerOf(conversation);
    if (!answers.includes(answer)) answers.push(answer);
    const cells = Object.values(table).map(({ cell }) => cell(conversation));
    print(`${line(`${letterOf(name)}  ${titleOf(name)}`, cells, table)} (${answers.indexOf(answer) + 1})`);
  }
  print('');
  for (const [at, answer] of answers.entries()) {
    const role = answer.startsWith('✗') ? 'error' : 'result';
    for (const [row, text] of wrap(answer, WIDTH - 8).entries()) {
      print(`  ${paint('quiet', row === 0 ? `(${at + 1})` : '   ')} ${paint(role, text)}`);
    }
  }
}

const playOption = async (name: OptionName, settings: Settings): Promise<Conversation> =>
  play(await loadOption(name), settings, optionScene(settings));

interface Column {
  readonly width: number;
  readonly cell: (conversation: Conversation) => string;
}

/** The columns beside an option's title, by their heads. */
const columnsWith = (effect: 'audited' | 'written'): Readonly<Record<string, Column>> => ({
  rounds: { width: 6, cell: ({ transcript }) => `${count(transcript).rounds}` },
  asked: { width: 5, cell: ({ transcript }) => `${count(transcript).questions}×` },
  entered: { width: 7, cell: ({ transcript }) => `${count(transcript).entries}×` },
  [effect]: {
    width: 7,
    cell: ({ transcript }) => `${count(transcript)[effect === 'audited' ? 'audits' : 'writes']}×`,
  },
  state: { width: 5, cell: ({ transcript }) => `${Math.max(0, ...count(transcript).stateBytes)} B` },
  held: {
    width: 8,
    cell: ({ transcript, framesHeld }) =>
      count(transcript).liveAsks > 0 ? `stream${framesHeld > 0 ? `+${framesHeld}` : ''}` : `${framesHeld}`,
  },
});

const TITLE_WIDTH = 31;

function line(title: string, cells: readonly string[], table: Readonly<Record<string, Column>>): string {
  const widths = Object.values(table).map(({ width }) => width);
  const name = clip(title, TITLE_WIDTH);
  const numbers = cells.map((text, at) => text.padStart(widths[at] ?? 0)).join(' ');
  return ` ${name}${' '.repeat(TITLE_WIDTH - columns(name))} ${numbers}`;
}

function answerOf({ result, error }: Conversation): string {
  if (error !== undefined) return `✗ ${error}`;
  const text = resultText((result ?? {}) as JsonObject);
  return result?.isError ? `✗ ${text}` : text;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
