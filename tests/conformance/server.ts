/**
 * The server for the suite: `node --import tsx server.ts --shape f --port 3000`. The runner starts it, and
 * reads the address that it prints.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { serveHttp } from '@mrtr/hosting/http';
import { OPTIONS_UNDER_TEST, servedIn, TAKES_UNASKED } from './fixture.ts';

const options = { shape: { type: 'string' }, port: { type: 'string', default: '0' } } as const;
const { shape: name, port } = parseArgs({ options }).values;
const shape = OPTIONS_UNDER_TEST.find(({ id }) => id === name);
if (!shape) {
  throw new Error(
    `--shape must be one of ${OPTIONS_UNDER_TEST.map(({ id }) => id).join(', ')}; it is ${name}.`,
  );
}

// No other process resumes its calls, so its key and its ledger may end with it.
const policy = requestStatePolicy({
  keys: [randomBytes(32)],
  ledger: new MemoryLedger(),
  unaskedAnswers: { accept: [TAKES_UNASKED] },
});
const hosting = await serveHttp(servedIn(shape, policy), {
  port: Number(port),
  legacyClients: 'stateless',
  drainSeconds: 1,
});
const close = () => void hosting.close();
process.once('SIGTERM', close).once('SIGINT', close);
process.stderr.write(`Shape ${shape.name} (${shape.title}) at ${hosting.url}\n`);
