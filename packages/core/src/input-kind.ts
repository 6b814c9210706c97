/** The kinds of input that a server can ask a client for, and which of them a client declares. */
import type { ClientCapabilities } from './wire.ts';

/**
 * A kind of input. `elicitation` is its form mode, `elicitation.url` its URL mode; `sampling.tools` is sampling with
 * tools.
 */
export type InputKind = 'elicitation' | 'elicitation.url' | 'sampling' | 'sampling.tools' | 'roots';

const KINDS: readonly InputKind[] = ['elicitation', 'elicitation.url', 'sampling', 'sampling.tools', 'roots'];

/** The kind of an input request; undefined for anything else that an author may return. */
export function kindOf(request: unknown): InputKind | undefined {
  const { method, params } = (request ?? {}) as { method?: unknown; params?: Record<string, unknown> };
  if (method === 'elicitation/create') return params?.mode === 'url' ? 'elicitation.url' : 'elicitation';
  if (method === 'sampling/createMessage') return params?.tools === undefined ? 'sampling' : 'sampling.tools';
  return method === 'roots/list' ? 'roots' : undefined;
}

// A parked handler holds one of these lists, so equal ones are one list.
const lists = new Map<string, readonly InputKind[]>();

/** The kinds that a client with `capabilities` can be asked for. */
export function declaredKinds(capabilities: ClientCapabilities | undefined): readonly InputKind[] {
  const kinds = KINDS.filter((kind) => declares(capabilities, kind));
  const key = kinds.join();
  const known = lists.get(key) ?? kinds;
  lists.set(key, known);
  return known;
}

function declares(capabilities: ClientCapabilities | undefined, kind: InputKind): boolean {
  const [family, mode] = kind.split('.') as ['elicitation' | 'sampling' | 'roots', string?];
  const declared = capabilities?.[family] as Readonly<Record<string, unknown>> | null | undefined;
  if (declared === undefined || declared === null) return false;
  if (mode !== undefined) return mode in declared;
  // A bare `elicitation: {}` means form mode; a client that lists modes without `form` cannot show a form.
  return family !== 'elicitation' || 'form' in declared || !('url' in declared);
}
