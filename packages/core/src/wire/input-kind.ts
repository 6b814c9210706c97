/** The kinds of input that a server can ask for, and that a client declares. */
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import type { Members } from './wire.ts';

/** A kind of input. `elicitation` means forms, `elicitation.url` pages, and `sampling.tools` sampling with tools. */
export type InputKind = 'elicitation' | 'elicitation.url' | 'sampling' | 'sampling.tools' | 'roots';

/** All kinds of input. */
export const INPUT_KINDS: readonly InputKind[] = [
  'elicitation',
  'elicitation.url',
  'sampling',
  'sampling.tools',
  'roots',
];

/** The kind of an input request; undefined for any other value. */
export function inputKindOf(request: unknown): InputKind | undefined {
  const { method, params } = (request ?? {}) as { method?: unknown; params?: Record<string, unknown> };
  if (method === 'elicitation/create') return params?.mode === 'url' ? 'elicitation.url' : 'elicitation';
  if (method === 'sampling/createMessage') return usesTools(params) ? 'sampling.tools' : 'sampling';
  return method === 'roots/list' ? 'roots' : undefined;
}

/**
 * Whether a sampling request needs `sampling.tools`. The specification requires it for `tools` and for `toolChoice`.
 */
export const usesTools = (params: Members | undefined) =>
  params?.tools !== undefined || params?.toolChoice !== undefined;

const partsOf = (kind: InputKind) => kind.split('.') as ['elicitation' | 'sampling' | 'roots', string?];

/** The capabilities that `kinds` need, as the error -32021 lists them. */
export function capabilitiesOf(kinds: readonly InputKind[]): ClientCapabilities {
  const capabilities: Record<string, Record<string, object>> = {};
  for (const [family, mode = family === 'elicitation' ? 'form' : undefined] of kinds.map(partsOf)) {
    capabilities[family] = { ...capabilities[family], ...(mode !== undefined && { [mode]: {} }) };
  }
  return capabilities;
}

/**
 * The kinds that a client with `capabilities` can be asked for. Always the same list for the same kinds: each parked frame
 * keeps one, which takes 184 bytes.
 */
export function declaredKinds(capabilities: ClientCapabilities | undefined): readonly InputKind[] {
  const kinds = INPUT_KINDS.filter((kind) => declares(capabilities, kind));
  const known = lists.get(`${kinds}`) ?? Object.freeze(kinds);
  lists.set(`${kinds}`, known);
  return known;
}

const lists = new Map<string, readonly InputKind[]>();

function declares(capabilities: ClientCapabilities | undefined, kind: InputKind) {
  const [family, mode] = partsOf(kind);
  const declared = capabilities?.[family] as Members | null | undefined;
  if (declared === undefined || declared === null) return false;
  if (mode !== undefined) return mode in declared;
  // A bare `elicitation: {}` means form mode; a client that lists modes without `form` cannot show a form.
  return family !== 'elicitation' || 'form' in declared || !('url' in declared);
}
