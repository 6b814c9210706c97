/**
 * An instance of one shape, without HTTP. It makes its own calls for a given time. There is one DBOS per process,
 * and it slows every promise of its process. So the shapes it is compared with run in other processes.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Order, Slice } from '../durable.ts';
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

async function answerTo(order: Order): Promise<unknown> {
  if (order === 'ready') return 'ready';
  const run = order.atOnce === 1 ? one : () => Promise.all(Array.from({ length: order.atOnce }, one));
  const [callsBefore, before] = [calls, cpuUsed()];
  const microseconds = (await slicer({ name: id, run }, order.sliceMs).slice()) / order.atOnce;
  const slice: Slice = { microseconds, processor: (cpuUsed() - before) / (calls - callsBefore) };
  return slice;
}

process.on('message', async (order: Order) => process.send?.(await answerTo(order)));
process.on('disconnect', () => process.exit());
