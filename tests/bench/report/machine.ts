/** The versions and the machine of a run. */
import { readFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Versions and machine, as data. */
export interface Machine {
  readonly node: string;
  readonly v8: string;
  readonly openssl: string;
  readonly sdk: string;
  readonly machine: string;
  readonly measured: string;
}

/** Of this process. */
export function machine(): Machine {
  const { node, v8 = '', openssl = '' } = process.versions;
  const [cpu, ...others] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return {
    node,
    v8,
    openssl,
    sdk: sdkVersion(),
    machine: `${cpu?.model ?? 'an unknown processor'}, ${others.length + 1} cores, ${memory} GiB, ${platform()} ${arch()}`,
    measured: new Date().toISOString().slice(0, 10),
  };
}

/** The SDK's manifest is not among its exports; it lies two folders above its entry. */
function sdkVersion(): string {
  const entry = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server'));
  const manifest = readFileSync(new URL('../package.json', `file://${entry}`), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
