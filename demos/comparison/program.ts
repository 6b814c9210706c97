/** `@mrtr/comparison/program`: what makes an option's `server.ts` a program. */
import { existsSync, realpathSync } from 'node:fs';
import { requestStatePolicy } from '@mrtr/core';
import { serveOverStdio } from '@mrtr/hosting/stdio';
import type { OptionModule } from './options.ts';
import { createWorld } from './world.ts';

/**
 * Serves an option on stdio if `filename` is the program that was started, and not a module of another one. `STATE_KEY` is
 * the key of request state, and `POSTGRES` the database of calls.
 *
 * @param needs the variables that must be set.
 */
export function serveAsProgram(
  filename: string,
  { createServer, openStore }: OptionModule,
  needs: readonly string[] = [],
) {
  const [, program = ''] = process.argv;
  if (!existsSync(program) || realpathSync(program) !== filename) return;
  if (needs.some((name) => !process.env[name])) throw new Error(`Set ${needs.join(' and ')}.`);
  const { STATE_KEY, POSTGRES: postgres } = process.env;
  const policy = requestStatePolicy({ keys: STATE_KEY === undefined ? undefined : [STATE_KEY] });
  const world = createWorld();
  const store = openStore?.({ policy, postgres });
  serveOverStdio({ server: () => createServer(world, policy, store), close: async () => store?.close() });
}
