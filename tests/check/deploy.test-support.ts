/** Two versions of the tool of tools/matrix/src/deploy, served over HTTP in this process. */
import { randomBytes } from 'node:crypto';
import { type Report, run } from '@mrtr/check';
import { createWorld } from '@mrtr/comparison';
import type { Change } from '@mrtr/comparison/claims';
import { findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { MemoryLedger, requestStatePolicy, textResult } from '@mrtr/core';
import { serveHttp } from '@mrtr/hosting/http';
import { deploy, ORDER, policyVersion } from '@mrtr/matrix/deploy';
import { z } from 'zod';
import { probeOf } from './bare.test-support.ts';

/** Answers that every version allows. The checker finds the disallowed ones by itself. */
const ANSWERS = { size: 'L', colour: 'red', gift: 'no' };

interface Setup {
  /** Each version has its own key, as if it made one at start. */
  readonly ownKeys?: boolean;
  readonly only?: readonly string[];
}

export async function checkDeploy(
  shape: string,
  change: Change,
  { ownKeys = false, only = ['deploy'] }: Setup = {},
): Promise<Report> {
  const orders = { count: 0 };
  const world = createWorld({ onAudit: () => void orders.count++ });
  const [shared, ledger] = [randomBytes(32), new MemoryLedger()];
  const option = await loadOption(findOption(shape) as ListedOption);
  const start = (of: Change) => {
    const keys = [ownKeys ? randomBytes(32) : shared];
    const policy = requestStatePolicy({ keys, ledger, version: policyVersion(of) });
    const running = deploy(option, of).create({ world, policy });
    const server = () => {
      const one = running.server();
      one.registerTool('count', { inputSchema: z.object({}), annotations: { readOnlyHint: true } }, () =>
        textResult(String(orders.count)),
      );
      return one;
    };
    return serveHttp({ ...running, server }, { port: 0 });
  };
  const [old, next] = await Promise.all([start('nothing'), start(change)]);
  try {
    return await run({
      address: { url: String(old.url), next: String(next.url) },
      operation: { kind: 'tool', name: ORDER, arguments: {} },
      answers: { ...ANSWERS, fit: 'L', '*': ANSWERS },
      probe: probeOf('count'),
      only,
      oneTime: true,
      allowEffects: true,
    });
  } finally {
    await Promise.all([old.close(), next.close()]);
  }
}
