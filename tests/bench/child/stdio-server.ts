/** A stdio server of one subject. */
import { serveStdio as serveBare } from '@modelcontextprotocol/server/stdio';
import { serveStdio } from '@mrtr/hosting/stdio';
import { documented } from '../subject/documented.ts';
import { running, SHAPES } from '../subject/options.ts';
import { forgetfulWorld } from '../subject/world.ts';

const [name = ''] = process.argv.slice(2);
const option = SHAPES.find(({ id }) => id === name);
if (option) serveStdio(running(option));
else serveBare(documented(forgetfulWorld()));
