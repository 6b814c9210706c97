/** A program that serves the fixture over stdio, and writes its end to stderr. */

import { serveOverStdio } from '@mrtr/hosting/stdio';
import { fixture } from '../../packages/hosting/src/hosting.test-support.ts';

const served = fixture();
served.entered.then(({ mcpReq: { signal } }) => {
  process.stderr.write('Entered.\n');
  signal.addEventListener('abort', () => process.stderr.write('The signal fired.\n'));
});
await serveOverStdio(served).closed;
process.stderr.write(`Closed ${served.closed} times.\n`);
