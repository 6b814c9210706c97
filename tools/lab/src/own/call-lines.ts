/** Records in a conversation the lines of the handler's file that ran, and where each request entered it. */
import type { Recorder } from '@mrtr/harness/internal';
import type { SourceLine } from '@mrtr/harness/transcript';
import { keepLines } from '../lines.ts';
import type { Taken } from './trace.ts';

type Traced = NonNullable<Taken['lines']>;

export const keyOf = ([file, line]: SourceLine) => `${file}:${line}`;

export type CallLines = ReturnType<typeof callLines>;

/**
 * Records the lines of one conversation. The handler's top is the first line that its first request ran, and that had not
 * run before: loading the file, connecting and listing tools run lines too. A request that runs the top enters the
 * handler; one that does not goes on in a handler that waited.
 *
 * @param isBefore whether a line ran before the call
 * @param onFound called with the handler's file
 */
export function callLines(
  recorder: Recorder,
  isBefore: (line: string) => boolean,
  onFound: (file: string) => void,
) {
  let top: SourceLine | undefined;
  const entered = new WeakSet<object>();
  // A process that has just started reports its start together with its first entry.
  const isNew = (line: SourceLine) => !isBefore(keyOf(line));
  return {
    /** Records what ran in `instance` for this request. */
    record({ files, order: ran }: Traced, instance: string, request: object) {
      if (!top) {
        top = ran.find(isNew);
        if (top) onFound(top[0]);
      }
      const [file, first] = top ?? [];
      const order = ran.filter(([one]) => one === file);
      const at = order.findIndex(([, line]) => line === first);
      const isEntry = at >= 0 && !entered.has(request);
      const recordPart = (part: readonly SourceLine[]) => {
        if (part.length === 0) return;
        const event = { files: keepLines(files, part), order: part };
        recorder.recordDiagnostic({ channel: 'mrtr:lines', event }, instance);
      };
      if (!isEntry) return recordPart(order);
      recordPart(order.slice(0, at).filter(isNew));
      entered.add(request);
      recorder.recordDiagnostic({ channel: 'mrtr:handler', event: {} }, instance);
      recordPart(order.slice(at));
    },
  };
}
