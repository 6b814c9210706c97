/** What `pnpm mutate` changes when it is given no files, and which tests have to notice. */
import { existsSync } from 'node:fs';

/** The files where a change that no test notices would cost most: what is admitted, sealed, served once and counted. */
export const TARGETS: readonly string[] = [
  'packages/core/src/admission/admission.ts',
  'packages/core/src/admission/handler-entry.ts',
  'packages/core/src/admission/lease.ts',
  'packages/core/src/state/codec.ts',
  'packages/core/src/admission/quota.ts',
  'packages/hosting/src/http-checks.ts',
  'packages/hosting/src/open-requests.ts',
];

const SOURCE = /^(packages\/[^/]+)\/src\/.+(?<!\.test|\.test-support|\.proof)\.ts$/;

/**
 * The pattern of the tests that run for the mutants of `file`: those of its own package, and for a shape its contract.
 * They are the ones that have to notice, and those of all packages would take ten times as long.
 *
 * @param root the folder that the path is relative to, with a slash at its end.
 * @throws Error for a file that does not exist or is no source file of a package.
 */
export function testsOf(file: string, root: URL): string {
  const folder = SOURCE.exec(file)?.[1];
  if (folder === undefined)
    throw new Error(`${file} is no source file of a package. Give paths such as ${TARGETS[0]}.`);
  if (!existsSync(new URL(file, root)))
    throw new Error(
      `${file} does not exist. If it has moved, correct the list in tests/mutation/targets.ts.`,
    );
  return folder === 'packages/shapes'
    ? '{packages/shapes/src,tests/shapes}/**/*.test.ts'
    : `${folder}/src/**/*.test.ts`;
}
