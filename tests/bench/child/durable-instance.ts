/**
 * An instance of one shape, without HTTP: it makes calls of its own for as long as it is told, or serves what it is sent.
 * DBOS is one a process, and slows every promise of its process; so those it is compared with have processes of their own.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Slice, Told } from '../durable.ts';
import { slicer } from '../race.ts';
import { call, inProcess, workItem } from '../subject/call.ts';
import { runningOn } from '../subject/durable.ts';
import { cpuUsed } from './cpu.ts';

const [id = ''] = process.argv.slice(2);
const { server } = await runningOn(id);
const exchange = inProcess(createMcpHandler(() => server()));
let calls = 0;

function one(): Promise<number> {
  calls++;
  return call(exchange, workItem);
}

async function answerTo(told: Told): Promise<unknown> {
  if (told === 'ready') return 'ready';
  if ('request' in told) return exchange(told.request, told.tool);
  const run = told.atOnce === 1 ? one : () => Promise.all(Array.from({ length: told.atOnce }, one));
  const [callsBefore, before] = [calls, cpuUsed()];
  const microseconds = (await slicer({ name: id, run }, told.sliceMs).slice()) / told.atOnce;
  const slice: Slice = { microseconds, processor: (cpuUsed() - before) / (calls - callsBefore) };
  return slice;
}

process.on('message', async (told: Told) => process.send?.(await answerTo(told)));
process.on('disconnect', () => process.exit());
