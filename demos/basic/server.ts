/**
 * The smallest tool that asks its user something: one question, one retry.
 *
 * Since revision 2026-07-28 a server cannot call its client. A tool that needs an answer *returns* its question,
 * and the client calls the tool again with the answer. So this handler is entered twice for one deployment, by
 * two requests that may reach two different instances, and it keeps nothing in memory in between.
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
  requestStatePolicy,
  textResult,
  words,
} from '@mrtr/core';
import { serveOverStdio } from '@mrtr/hosting/stdio';
import { z } from 'zod';

const inputSchema = z.object({ env: z.enum(['staging', 'production']) });
const Confirmation = z.object({ confirm: z.enum(['Do not deploy', 'Deploy']) });

/** A new server with the one tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  // Each question goes out with requestState, a sealed token that the client sends back with the answer. It names the
  // question, the tool, its arguments, the user and the expiry. An answer without it does not count.
  const server = protectedServer({ name: 'basic', version: '1.0.0' }, policy);

  const tool = { description: 'Deploys the latest build, if the user confirms it.', inputSchema };
  server.registerTool('deploy', tool, async ({ env }, ctx) => {
    const question = elicitation(words`Really deploy to ${env}?`, Confirmation);
    const answer = readAnswer(ctx, 'confirm', question);

    // Move 1: there is no answer yet, or none that fits the schema. Return the question; this round ends here.
    if (answer.kind === 'missing' || answer.kind === 'invalid') {
      return ask({ confirm: question });
    }

    // Move 2: the user has answered, so act on it. Put effects that must happen once here, below the guard: the code
    // above runs in both rounds.
    if (isRefusal(answer)) return cancelledResult('confirm');
    if (answer.value.confirm !== 'Deploy') return textResult('Nothing was deployed.');
    return textResult(await deploy(env));
  });

  return server;
}

// A real server would do its work here.
const deploy = async (env: string): Promise<string> => `Deployed to ${env}.`;

const [, program = ''] = process.argv;
if (existsSync(program) && realpathSync(program) === import.meta.filename) {
  const policy = requestStatePolicy();
  serveOverStdio({ server: () => createServer(policy) });
}
