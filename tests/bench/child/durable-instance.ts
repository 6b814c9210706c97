/**
 * An instance of one shape, without HTTP. It makes its own calls for a given time, or serves given requests. There is
 * one DBOS per process, and it slows every promise of its process. So the shapes it is compared with run in other
 * processes.
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
