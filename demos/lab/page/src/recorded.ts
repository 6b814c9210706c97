/** What was recorded, loaded when it is opened. By a script: a page on a disk may fetch nothing. */
import { useEffect, useState } from 'preact/hooks';
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

interface Loaded<Value> {
  /** The names of what is loaded, or is missing. */
  readonly id?: string;
  readonly values?: readonly Value[];
  readonly problem?: string;
}

/** Everything under the names. Until all of it is there, it is what was loaded before. */
export function useRecorded<Value = Recording>(names: readonly string[]): Loaded<Value> {
  const id = names.join();
  const [loaded, setLoaded] = useState<Loaded<Value>>({});
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const loadAll = () =>
      Promise.all(names.map(load)).then(
        (values) => isCurrent && setLoaded({ id, values: values as readonly unknown[] as readonly Value[] }),
        ({ message }: Error) => {
          if (!isCurrent) return;
          setLoaded({ id, problem: message });
          // The live lab records in the background when it starts.
          timer = setTimeout(loadAll, 700);
        },
      );
    void loadAll();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [id]);
  return loaded;
}
