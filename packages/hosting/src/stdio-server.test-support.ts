/** A program that serves the fixture over stdio, and tells on stderr what became of it. */
import { fixture } from './hosting.test-support.ts';
import { serveOverStdio } from './stdio.ts';

const served = fixture();
served.entered.then(({ mcpReq: { signal } }) => {
  process.stderr.write('Entered.\n');
  signal.addEventListener('abort', () => process.stderr.write('The signal fired.\n'));
});
await serveOverStdio(served).closed;
process.stderr.write(`Closed ${served.closed} times.\n`);
