/** The worker of `sandbox.ts`: compiles the schemas of a server, generates content from them, and decodes its tokens. */
import { parentPort } from 'node:worker_threads';
import * as contents from './answers/generate.ts';
import { callsOf, otherArgumentsFrom } from './answers/other-arguments.ts';
import { fits, misfit, whyUnfit } from './answers/schema.ts';
import { whyUnfillable } from './answers/unfillable.ts';
import { readableParts } from './tokens/decode.ts';
import { forgeries } from './tokens/forge.ts';
import { aliases, bitFlips } from './tokens/mutate.ts';
import { duplicateKeys } from './wire/json.ts';

const TASKS = {
  ...contents,
  aliases,
  bitFlips,
  callsOf,
  duplicateKeys,
  fits,
  forgeries,
  misfit,
  otherArgumentsFrom,
  readableParts,
  whyUnfillable,
  whyUnfit,
};
export type Tasks = typeof TASKS;

/** A few KiB from a server may expand to gigabytes. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

function perform(text: string) {
  const [task, args] = JSON.parse(text) as [keyof Tasks, never];
  const result = JSON.stringify({
    result: (TASKS[task] as (...of: never[]) => unknown)(...(args as never[])),
  });
  if (result.length > MAX_CHARACTERS) throw new RangeError('the result is too long');
  return result;
}

parentPort?.on('message', (text: string) => {
  try {
    parentPort?.postMessage(perform(text));
  } catch (error) {
    parentPort?.postMessage(JSON.stringify({ problem: (error as Error).message }));
  }
});
// Compile our own schema before the time of the first task begins: it takes long on a busy machine.
if (parentPort) misfit('InputRequiredResult', {});
parentPort?.postMessage('ready');
