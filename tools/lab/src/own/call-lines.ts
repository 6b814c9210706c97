/** Records in a conversation the lines of the handler's file that ran, and where each request entered it. */
import type { Recorder } from '@mrtr/harness/internal';
import type { SourceLine } from '@mrtr/harness/transcript';
import { keepLines } from '../lines.ts';
import type { Taken } from './trace.ts';

type Traced = NonNullable<Taken['lines']>;

export const keyOf = ([file, line]: SourceLine): string => `${file}:${line}`;

/**
 * The lines of one conversation. The handler's top is the first line that its first request ran, and that had not run
 * before: loading the file, connecting and listing tools run lines too. A request that runs the top enters the handler;
 * one that does not goes on in a handler that waited.
 */
export class CallLines {
  readonly #recorder: Recorder;
  readonly #isBefore: (line: string) => boolean;
  #top: SourceLine | undefined;
  readonly #entered = new WeakSet<object>();

  readonly #onFound: (file: string) => void;

  /**
   * @param isBefore whether a line ran before the call
   * @param onFound called with the handler's file
   */
  constructor(recorder: Recorder, isBefore: (line: string) => boolean, onFound: (file: string) => void) {
    this.#recorder = recorder;
    this.#isBefore = isBefore;
    this.#onFound = onFound;
  }

  /** Records what ran in `instance` for this request. */
  record({ files, order: ran }: Traced, instance: string, request: object): void {
    // A process that has just started reports its start together with its first entry.
    const isNew = (line: SourceLine) => !this.#isBefore(keyOf(line));
    if (!this.#top) {
      this.#top = ran.find(isNew);
      if (this.#top) this.#onFound(this.#top[0]);
    }
    const [file, first] = this.#top ?? [];
    const order = ran.filter(([one]) => one === file);
    const at = order.findIndex(([, line]) => line === first);
    const isEntry = at >= 0 && !this.#entered.has(request);
    const stretches = isEntry ? [order.slice(0, at).filter(isNew), order.slice(at)] : [order];
    for (const [place, stretch] of stretches.entries()) {
      if (isEntry && place === 1) {
        this.#entered.add(request);
        this.#recorder.recordDiagnostic({ channel: 'mrtr:handler', event: {} }, instance);
      }
      if (stretch.length > 0)
        this.#recorder.recordDiagnostic(
          { channel: 'mrtr:lines', event: { files: keepLines(files, stretch), order: stretch } },
          instance,
        );
    }
  }
}
