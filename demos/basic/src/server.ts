/**
 * The smallest tool that asks its user something: one question, one retry.
 *
 * Since revision 2026-07-28 a server cannot call its client. A tool that needs an answer *returns* its question,
 * and the client calls the tool again with the answer. So this handler is entered twice for one deployment, by
 * two requests that may well reach two different instances, and it keeps nothing in memory in between.
 */
import {
  canAsk,
  cancelledResult,
  elicitation,
  errorResult,
  inputRequired,
  isRefusal,
  type McpServer,
  protectedServer,
  type RequestStatePolicy,
  readAnswer,
  textResult,
} from '@mrtr/core';
import { z } from 'zod';

const inputSchema = z.object({ env: z.enum(['staging', 'production']) });
const Confirmation = z.object({ confirm: z.boolean() });

/** A new server with the one tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  // The client carries requestState from round to round and could change it. A protected server seals it on the
  // way out, and opens and checks it on the way in: this tool, these arguments, this user, not expired.
  const server = protectedServer({ name: 'basic', version: '1.0.0' }, policy);

  const tool = { description: 'Deploys the latest build, if the user confirms it.', inputSchema };
  server.registerTool('deploy', tool, async ({ env }, ctx) => {
    if (!canAsk(ctx, 'elicitation')) return errorResult('Deploying needs a client that can ask its user.');
    const question = elicitation(`Really deploy to ${env}?`, Confirmation);

    // Move 1: no answer yet (or none that fits the schema)? Then return the question, and be done for now. The
    // state says which question went out; without it, a "yes" in the very first request would skip the question.
    const asked = ctx.mcpReq.requestState<string>() === question.digest;
    const answer = asked ? readAnswer(ctx, 'confirm', question) : { kind: 'missing' as const };
    if (answer.kind === 'missing' || answer.kind === 'invalid') {
      return inputRequired({ inputRequests: { confirm: question.request }, requestState: question.digest });
    }

    // Move 2: the user has spoken, so act on it. Whatever must happen once goes down here, below the guard:
    // everything above runs in both rounds.
    if (isRefusal(answer) || !answer.value.confirm) return cancelledResult();
    return textResult(await deploy(env));
  });

  return server;
}

// Where the real work would be.
const deploy = async (env: string): Promise<string> => `Deployed to ${env}.`;
