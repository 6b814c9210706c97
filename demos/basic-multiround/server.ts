/**
 * Two questions, where the second is known only after the first answer. So the state carries that answer.
 *
 * Read `demos/basic` first: this demo makes the same two moves twice. A request brings only the answers of its own
 * round. The server sends earlier answers to the client as `requestState`, and the client sends them back with the next
 * request. So any instance can serve any round, and no instance keeps anything in memory between two rounds.
 */
import { existsSync, realpathSync } from 'node:fs';
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  type McpServer,
  protectedServer,
  type RequestStatePolicy,
  readAnswer,
  readState,
  requestStatePolicy,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { serveOverStdio } from '@mrtr/hosting/stdio';
import { z } from 'zod';

const inputSchema = z.object({ id: z.number().int().positive() });

// The rules of the work tracker: a resolved item has a resolution, and a duplicate names its original.
const How = z.object({ resolution: z.enum(['Fixed', 'Duplicate']).meta({ title: 'Resolution' }) });
// A text, because some clients draw no number.
const OriginalItem = z.string().meta({ title: 'Original item', description: 'A number from 1 to 99999' });
const Which = z.object({ original: OriginalItem.transform(Number).pipe(z.int().min(1).max(99999)) });

/** A new server with the one tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'basic-multiround', version: '1.0.0' }, policy);

  const tool = {
    description: 'Resolves a work item. Asks how, and of which item it is a duplicate.',
    inputSchema,
  };
  server.registerTool('resolve', tool, async ({ id }, ctx) => {
    // Question 1: how? The answer is in this request, or in the state because an earlier request brought it.
    const how = elicitation(`How was #${id} resolved?`, How);
    const resolution = readRemembered(ctx) ?? readAnswer(ctx, 'resolution', how);
    if (isRefusal(resolution)) return cancelledResult('resolution');
    if (resolution.kind !== 'accepted') return ask({ resolution: how });
    if (resolution.value.resolution === 'Fixed') return textResult(await save(id, 'Fixed'));

    // Question 2, for duplicates only: of which item? The next request will bring only this answer, so the first one
    // goes into the state. The server seals the state: the client can neither read nor change it.
    const which = elicitation(`Which item is #${id} a duplicate of?`, Which);
    const original = readAnswer(ctx, 'original', which);
    if (isRefusal(original)) return cancelledResult('original');
    if (original.kind !== 'accepted') {
      return ask({ original: which }, { state: resolution.value });
    }

    // Both answers are here, so this line is reached once, in the last of the three requests.
    return textResult(await save(id, `Duplicate of #${original.value.original}`));
  });

  return server;
}

/** The answer to the first question, if an earlier request brought it. Another version may have kept it: check it. */
function readRemembered(ctx: ServerContext) {
  const value = readState(ctx, How);
  return value && { kind: 'accepted' as const, value };
}

// A real server would do its work here.
const save = async (id: number, resolution: string): Promise<string> => `#${id} resolved as ${resolution}.`;

const [, program = ''] = process.argv;
if (existsSync(program) && realpathSync(program) === import.meta.filename) {
  const policy = requestStatePolicy();
  serveOverStdio({ server: () => createServer(policy) });
}
