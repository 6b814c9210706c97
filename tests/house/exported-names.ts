/** The names that the entry points of a package export, read from their sources. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';

export interface EntryPoint {
  /** The import specifier: `@mrtr/core/shape`. */
  readonly id: string;
  readonly names: readonly string[];
}

/** The entry points of the package in `folder` that are TypeScript. */
export function entryPoints(folder: string): EntryPoint[] {
  const { name, exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  return Object.entries(exports)
    .map(([subpath, target]) => [subpath, typeof target === 'string' ? target : ''] as const)
    .filter(([, file]) => file.endsWith('.ts'))
    .map(([subpath, file]) => ({
      id: name + subpath.slice(1),
      names: [...new Set(exportedNames(join(folder, file)))].sort(),
    }));
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, unknown>>;
}

function exportedNames(file: string): string[] {
  const { staticExports } = parseSync(file, readFileSync(file, 'utf8')).module;
  return staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ exportName, moduleRequest }) =>
      // `export * from`
      exportName.kind === 'None' && moduleRequest
        ? exportedNames(join(file, '..', moduleRequest.value))
        : [exportName.name ?? 'default'],
    );
}
