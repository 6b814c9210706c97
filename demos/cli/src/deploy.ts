/** `--deploy`: a call whose second round reaches another version of the code. */
import { toMermaid } from '@mrtr/harness/transcript';
import { inMemory, play } from '@mrtr/matrix/deploy';
import { findOption, type ListedOption, loadOption } from '@mrtr/options';
import type { Settings } from './args.ts';
import type { Demo } from './catalog.ts';
import { Diagram } from './diagram.ts';
import type { Stage } from './run-demo.ts';

type Deploying = Pick<Settings, 'format'> & { readonly deploy: NonNullable<Settings['deploy']> };

/** Makes the call, and draws it or prints its transcript. Resolves with the exit code. */
export async function runDeploy(
  { option }: Demo,
  { deploy: change, format }: Deploying,
  { terminal, paint, postgres }: Stage,
): Promise<number> {
  const print = (lines: readonly string[]) => {
    for (const line of lines) terminal.stdout.write(`${line}\n`);
  };
  const listed = postgres === undefined ? option : findOption('h-postgres');
  const wanted = { option: await loadOption(listed as ListedOption), change, moment: 'asked' } as const;
  if (format !== 'drawing') {
    const transcript = await play(wanted, inMemory(postgres));
    print([format === 'json' ? JSON.stringify(transcript, undefined, 2) : toMermaid(transcript)]);
    return 0;
  }
  const diagram = new Diagram(paint);
  print(diagram.begin());
  const onEvent = (event: Parameters<Diagram['next']>[0]) => print(diagram.next(event));
  const transcript = await play(wanted, inMemory(postgres), { onEvent });
  print(diagram.end(transcript));
  print(['', ...diagram.closing(transcript, undefined)]);
  return 0;
}
