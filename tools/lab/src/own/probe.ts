/** A value outside a server that shows its effects, named as for `mrtr-check --probe`. */
import { type Fetch, type Recorder, readOutside } from '@mrtr/harness/internal';
import { holdParts } from '@mrtr/matrix/processes';
import { callIn } from '../network.ts';

/** Reads the value. */
export type Probe = () => Promise<string>;

/** The reader of the value that `text` names, with a limit for each reading. @throws TypeError if it names none */
export function probeFrom(text: string, cwd: string, limitMs = 10_000): Probe {
  const [, kind, what = ''] = /^(cmd|url):(.+)$/s.exec(text) ?? [];
  if (kind !== 'cmd' && kind !== 'url')
    throw new TypeError(
      "--probe takes url:ADDRESS or cmd:COMMAND. A tool: is mrtr-check's: here, its lines would be the call's.",
    );
  return () => readOutside(kind, what, { signal: AbortSignal.timeout(limitMs), cwd });
}

/** Sends through `send`, and records each change of the value since a call's request, before the message that followed it. */
export function watchProbe(read: Probe, send: Fetch, recorder: Recorder): Fetch {
  let again: { readonly again?: true } = {};
  return async (url, init) => {
    if (!callIn(init)) return send(url, init);
    let before = await read();
    return holdParts(await send(url, init), async () => {
      const now = await read();
      if (now !== before) {
        recorder.record({ kind: 'effect', name: 'probe', detail: `${before} → ${now}`, ...again });
        again = { again: true };
      }
      before = now;
    });
  };
}
