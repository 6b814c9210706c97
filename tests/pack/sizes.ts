/** Sizes against budgets: of tarballs, and of each entry point as a bundler takes it into an application. */
import { statSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { entryPoints, type Packed, type Report } from './packages.ts';

/** In bytes. A package or an entry point that is not named has the first one of its list. */
const TARBALLS = {
  other: 50_000,
  '@mrtr/core': 165_000,
  '@mrtr/check': 430_000,
  '@mrtr/harness': 110_000,
  '@mrtr/hosting': 70_000,
  '@mrtr/linear-dbos': 90_000,
  '@mrtr/shapes': 150_000,
};
const ENTRIES = {
  other: 6_000,
  '@mrtr/check': 52_000,
  '@mrtr/core': 16_500,
  '@mrtr/linear-dbos': 12_000,
  '@mrtr/harness': 10_000,
  '@mrtr/hosting/http': 7_000,
};

/** Compares a tarball with its budget. */
export function tarballSizes({ manifest: { name }, tarball }: Packed, report: Report): void {
  compare(`${name}: tarball`, statSync(tarball).size, budgetOf(TARBALLS, name), report);
}

/** Compares each entry point, minified and compressed, without dependencies, with its budget. */
export function bundleSizes(project: string, packages: readonly Packed[], report: Report): void {
  for (const { manifest } of packages) {
    for (const entry of entryPoints(manifest)) {
      const { outputFiles } = buildSync({
        stdin: { contents: `export * from '${entry}'`, resolveDir: project },
        bundle: true,
        minify: true,
        write: false,
        format: 'esm',
        platform: 'node',
        external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
      });
      const size = brotliCompressSync(outputFiles[0]?.contents ?? '').length;
      compare(`${entry}: minified, brotli`, size, budgetOf(ENTRIES, entry), report);
    }
  }
}

const budgetOf = (budgets: Readonly<Record<string, number>> & { other: number }, name: string): number =>
  budgets[name] ?? budgets.other;

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

function compare(what: string, size: number, budget: number, report: Report): void {
  const sizes = `${what} ${kilobytes(size)} of ${kilobytes(budget)}`;
  report(sizes, size > budget ? '' : undefined);
}
