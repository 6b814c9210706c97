/**
 * A package registry on the loopback interface, which holds our packages alone. npm takes the names of our scope from it, and
 * all others from wherever it is configured to: so a name of ours never comes from anywhere else.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Packed, ROOT } from './packages.ts';
import { run } from './program.ts';

const SCOPE = '@mrtr';

export interface Registry {
  /** npm's option that sends the names of our scope here. */
  readonly option: string;
  close(): void;
}

/** Starts verdaccio with its files in `folder`, and publishes the tarballs there with npm, as a release does. */
export async function startRegistry(folder: string, packages: readonly Packed[]): Promise<Registry> {
  const { runServer } = createRequire(join(ROOT, 'tests/pack/tools/package.json'))('verdaccio');
  const server: Server = await runServer({
    ...{ storage: folder, self_path: folder, configPath: join(folder, 'none.yaml') },
    ...{ auth: {}, uplinks: {}, web: { enable: false }, log: { type: 'stdout', level: 'error' } },
    packages: { [`${SCOPE}/*`]: { access: '$all', publish: '$all' } },
  });
  // npm must keep nothing: the next run may get the same port, and has other packages of the same versions.
  server.prependListener('request', (_request, response) => response.setHeader('cache-control', 'no-store'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}/`;
  // npm publishes only with a token; this registry takes any.
  const options = [`--registry=http://${host}`, `--//${host}:_authToken=none`, '--provenance=false'];
  const publish = async ({ tarball }: Packed) => {
    const { problem } = await run('npm', ['publish', ...options, '--loglevel=error', tarball], folder);
    if (problem !== undefined) throw new Error(`npm could not publish ${tarball}.\n${problem}`);
  };
  await Promise.all(packages.map(publish));
  return {
    option: `--${SCOPE}:registry=http://${host}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
