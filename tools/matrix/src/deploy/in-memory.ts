/** Two versions in this process: two servers that share the key only. */
import { randomBytes } from 'node:crypto';
import type { Change } from '@mrtr/comparison/claims';
import { requestStatePolicy } from '@mrtr/core';
import { host } from '@mrtr/harness';
import type { StartVersions } from './call.ts';
import { deploy } from './subject.ts';
import { policyVersion } from './versioned-tool.ts';

/** H on PostgreSQL keeps its calls at `postgres`. `make` makes the deployed tool, or a broken twin of it. */
export const inMemory =
  (postgres?: string, make: typeof deploy = deploy): StartVersions =>
  ({ option, change }, { world, recorder }) => {
    const keys = [randomBytes(32)];
    const start = (of: Change) => {
      const policy = requestStatePolicy({ keys, version: policyVersion(of) });
      return make(option, of).create({ world, policy, postgres });
    };
    const old = start('nothing');
    const hosting = host('memory', () => old);
    return Object.assign(hosting, {
      async deploy() {
        hosting.another(() => start(change));
        await old.close();
        const instance = hosting.instances.at(-1);
        recorder.record({ kind: 'restart', instance, deployed: change });
      },
    });
  };
