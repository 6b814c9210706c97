/** Loads recordings on demand. It uses script elements, because a page on a disk cannot fetch. */
import { useEffect, useState } from 'preact/hooks';
import type { Recording, Recordings } from '../../src/protocol.ts';

declare global {
  var mrtrRecorded: (value: Recording | Recordings) => void;
}

const loaded = new Map<string, Promise<Recording | Recordings>>();
/** Takes what a script brings. */
const takers = new WeakMap<object, typeof mrtrRecorded>();
globalThis.mrtrRecorded = (value) => takers.get(document.currentScript ?? {})?.(value);

function load(name: string) {
  const known = loaded.get(name);
  if (known) return known;
  const script = document.createElement('script');
  script.src = `recorded/${encodeURIComponent(name)}.js`;
  const loading = new Promise<Recording | Recordings>((resolve, reject) => {
    takers.set(script, resolve);
    const fail = () => reject(new Error(`There is no recording '${name}'.`));
    // A script's `load` event comes after it ran: too late for what it has brought.
    script.onload = fail;
    script.onerror = fail;
  });
  loading.catch(() => loaded.delete(name));
  loaded.set(name, loading);
  document.head.append(script);
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
