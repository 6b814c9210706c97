/**
 * One version of the tool over stdio, for docs/deploying.md to hold two of them to a deploy:
 *
 *   node --import tsx packages/matrix/src/deploy/serve.ts --shape e --change reworded
 *
 * Both versions have the same key. Beside `order` there is `count`, which says how many effects this process has had.
 */
import { parseArgs } from 'node:util';
import { requestStatePolicy, textResult } from '@mrtr/core';
import { createWorld } from '@mrtr/example-tools';
import { serveOverStdio } from '@mrtr/hosting/stdio';
import type { Change } from '@mrtr/option/deploys';
import { findOption, loadOption } from '@mrtr/options';
import { z } from 'zod';
import { CHANGE_NAMES } from './changes.ts';
import { CHANGES } from './code/code.ts';
import { deploy } from './subject.ts';

const { values } = parseArgs({
  options: { shape: { type: 'string', default: 'f' }, change: { type: 'string', default: 'nothing' } },
});
const [listed, change] = [findOption(values.shape), values.change as Change];
if (!listed) throw new Error(`There is no shape '${values.shape}'.`);
if (!CHANGE_NAMES.includes(change))
  throw new Error(`There is no change '${change}'. There is: ${CHANGE_NAMES.join(', ')}.`);

let effects = 0;
const world = createWorld({ onAudit: () => void effects++ });
const keys = ['a secret of 32 bytes or more, please'];
const state = requestStatePolicy({ keys, version: CHANGES[change].version });
const running = deploy(await loadOption(listed), change).create({ world, state });
serveOverStdio({
  ...running,
  server() {
    const server = running.server();
    server.registerTool('count', { inputSchema: z.object({}), annotations: { readOnlyHint: true } }, () =>
      textResult(String(effects)),
    );
    return server;
  },
});
