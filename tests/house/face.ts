/** The face of a published package: the names that its entry points export, and the options that a caller can give. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, type StaticExportEntry } from 'oxc-parser';

/** What is read of a node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly optional?: boolean;
  readonly accessibility?: string | null;
  readonly id?: Node;
  readonly key?: Node;
  readonly value?: Node;
  readonly init?: Node;
  readonly params?: readonly Node[];
  readonly body?: { readonly body: readonly Node[] };
  readonly declaration?: Node;
  readonly declarations?: readonly Node[];
  readonly typeAnnotation?: Node;
  /** The name of a type that is used. */
  readonly typeName?: Node;
  /** The name of an interface that another extends. */
  readonly expression?: Node;
}

export interface EntryPoint {
  /** The import specifier: `@mrtr/core/shape`. */
  readonly id: string;
  /** The exports, sorted by name. A declaration outside the package is undefined. */
  readonly exports: ReadonlyMap<string, Node | undefined>;
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, unknown>>;
}

/** The entry points of the package in `folder` that are TypeScript. */
export function entryPoints(folder: string): EntryPoint[] {
  const { name, exports = {} }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string' && target.endsWith('.ts')
      ? [{ id: name + subpath.slice(1), exports: new Map([...exportsOf(join(folder, target))].sort()) }]
      : [],
  );
}

const FUNCTION = /Function|^TSMethodSignature$/;

/** A module. This parses each file once: a package's entry points lead to the same ones. */
function parse(file: string) {
  const known = parsed.get(file);
  if (known) return known;
  const { program, module } = parseSync(file, readFileSync(file, 'utf8'));
  /** Declared at its top. */
  const declarations = (program.body as unknown as readonly Node[])
    .map((node) => node.declaration ?? node)
    .flatMap((node) => node.declarations ?? [node]);
  const made = { declarations, exports: module.staticExports.flatMap(({ entries }) => entries) };
  parsed.set(file, made);
  return made;
}

const parsed = new Map<string, { declarations: readonly Node[]; exports: readonly StaticExportEntry[] }>();

/** The exports of a module, through re-exports. */
function exportsOf(file: string): Map<string, Node | undefined> {
  const { declarations, exports } = parse(file);
  // Of an overloaded function, the implementation is the last.
  const own = new Map(declarations.map((node) => [node.id?.name, node]));
  return new Map(
    exports.flatMap(({ exportName, importName, localName, moduleRequest }) => {
      const name = exportName.name ?? 'default';
      if (!moduleRequest) return [[name, own.get(localName.name ?? '')] as const];
      if (!moduleRequest.value.startsWith('.')) return [[name, undefined] as const];
      const others = exportsOf(join(file, '..', moduleRequest.value));
      return exportName.kind === 'None' ? [...others] : [[name, others.get(importName.name ?? '')] as const];
    }),
  );
}

/**
 * Counts the options: optional members of what a caller gives to an exported function or to a class, inherited and nested
 * ones too. A named type counts once; it may be in any of `sources`.
 */
export function countOptions(exported: readonly (Node | undefined)[], sources: readonly string[]): number {
  const types = sources
    .flatMap((file) => parse(file).declarations)
    .filter(({ type }) => /^TS(Interface|TypeAlias)/.test(type));
  const seen = new Set<string>();
  const count = (part: unknown): number =>
    [...nodesIn(part)].reduce((sum, { type, optional, typeName, expression }) => {
      const option = optional && /^TS(Property|Method)Signature$/.test(type) ? 1 : 0;
      const name = typeName?.name ?? (type === 'TSInterfaceHeritage' ? expression?.name : undefined);
      if (!name || seen.has(name)) return sum + option;
      seen.add(name);
      return sum + option + count(types.filter(({ id }) => id?.name === name));
    }, 0);
  return count(exported.flatMap(parametersOf));
}

/** The parameters of a function, or of a class's public methods. */
function parametersOf(node: Node | undefined): readonly Node[] {
  if (node?.type === 'VariableDeclarator')
    return [...nodesIn([node.init, node.id?.typeAnnotation])]
      .filter(({ type }) => FUNCTION.test(type))
      .flatMap(({ params = [] }) => params);
  if (node?.type !== 'ClassDeclaration') return node?.params ?? [];
  return (node.body?.body ?? [])
    .filter(
      ({ accessibility, key }) =>
        (accessibility ?? 'public') === 'public' && key?.type !== 'PrivateIdentifier',
    )
    .flatMap(({ value }) => value?.params ?? []);
}

/** The nodes in a part of a syntax tree, but for those inside functions: what a callback gets is no option. */
function* nodesIn(part: unknown): Generator<Node> {
  if (typeof part !== 'object' || part === null) return;
  if ('type' in part) yield part as Node;
  if ('type' in part && FUNCTION.test(`${part.type}`)) return;
  for (const child of Object.values(part)) yield* nodesIn(child);
}
