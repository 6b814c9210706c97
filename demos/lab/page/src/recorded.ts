/** What was recorded, loaded when it is opened. By a script: a page on a disk may fetch nothing. */
import type { Recording, Recordings } from '../../src/protocol.ts';

declare global {
  var mrtrRecorded: (value: Recording | Recordings | null) => void;
}

const loaded = new Map<string, Promise<Recording | Recordings>>();
let latest: Recording | Recordings | undefined;
globalThis.mrtrRecorded = (value) => {
  latest = value ?? undefined;
};

function load(name: string): Promise<Recording | Recordings> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = new Promise<Recording | Recordings>((resolve, reject) => {
    const missing = () => {
      loaded.delete(name);
      reject(new Error(`There is no recording '${name}'.`));
    };
    const script = document.createElement('script');
    script.src = `recorded/${encodeURIComponent(name)}.js`;
    // A script's own `load` comes right after it ran, so nothing else was recorded meanwhile.
    script.onload = () => {
      const value = latest;
      latest = undefined;
      if (value) resolve(value);
      else missing();
    };
    script.onerror = missing;
    document.head.append(script);
  });
  loaded.set(name, loading);
  return loading;
}

export const loadIndex = () => load('index') as Promise<Recordings>;
export const loadRecording = (id: string) => load(id) as Promise<Recording>;
