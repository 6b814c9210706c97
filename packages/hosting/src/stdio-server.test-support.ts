/** A program that serves the fixture over stdio, and tells on stderr what became of it. */
import { fixture } from './hosting.test-support.ts';
import { serveStdio } from './stdio.ts';

const served = fixture();
await serveStdio(served).closed;
process.stderr.write(`Closed ${served.closed} times.\n`);
