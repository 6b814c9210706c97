/** Loads recordings on demand. It uses script elements, because a page on a disk cannot fetch. */
import { useEffect, useState } from 'preact/hooks';
import type { Recording, Recordings } from '../../src/protocol.ts';

declare global {
  var mrtrRecorded: (value: Recording | Recordings | null) => void;
}

const loaded = new Map<string, Promise<Recording | Recordings>>();
let latest: Recording | Recordings | null = null;
globalThis.mrtrRecorded = (value) => {
  latest = value;
};

function load(name: string) {
  const known = loaded.get(name);
  if (known) return known;
  const loading = new Promise<Recording | Recordings>((resolve, reject) => {
    const missing = () => {
      loaded.delete(name);
      reject(new Error(`There is no recording '${name}'.`));
    };
    const script = document.createElement('script');
    script.src = `recorded/${encodeURIComponent(name)}.js`;
    // A script's `load` event comes right after it ran, so no other recording came between.
    script.onload = () => {
      const value = latest;
      latest = null;
      if (value) resolve(value);
      else missing();
    };
    script.onerror = missing;
    document.head.append(script);
  });
  loaded.set(name, loading);
  return loading;
}

export interface Loaded<Value> {
  /** The names of the loaded or missing recordings. */
  readonly id?: string;
  readonly values?: readonly Value[];
  readonly problem?: string;
}

/** Loads all `names`. Until all are there, keeps the earlier value. */
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
