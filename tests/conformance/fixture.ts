/** The tools and the prompt that the suite expects on a server, in any shape. */
import type { GetPromptResult } from '@modelcontextprotocol/server';
import {
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  protectedServer,
  type RequestStatePolicy,
  type ServerContext,
} from '@mrtr/core';
import type { CompleteResult } from '@mrtr/core/shape';
import { z } from 'zod';

/** The input schema of all the tools. */
export const noArguments = z.object({});

/** The arguments of a fixture's tools. */
export type NoArguments = z.output<typeof noArguments>;

/** A plain function, or the callback that a shape makes. */
type Handler<R extends CompleteResult> = (
  input: NoArguments,
  ctx: ServerContext,
) => Promise<R | InputRequiredResult>;

/** One of a fixture's tools. */
type FixtureTool = Handler<CallToolResult>;

const PREFIX = 'test_input_required_result_';

/**
 * The only tool that accepts an answer to a question that was not asked, since the scenario `ignore-extra-params`
 * expects it. See docs/conformance.md.
 */
export const TAKES_UNASKED = `${PREFIX}elicitation`;

/** The handlers that a shape's file writes. */
export interface Fixture {
  /** Asks for a name. The policy also lets it accept an unasked one; see {@link TAKES_UNASKED}. */
  readonly greet: FixtureTool;
  /** Asks the client's model. */
  readonly capital: FixtureTool;
  /** Asks for the client's roots. */
  readonly roots: FixtureTool;
  /** Asks for a confirmation. After an answer without its state, it asks again. */
  readonly confirm: FixtureTool;
  /** Asks the user, the model and for the roots in one round. */
  readonly introduce: FixtureTool;
  /** Asks for a name, then for a colour. */
  readonly twoSteps: FixtureTool;
  /** Asks only for kinds of input that the client declared. */
  readonly askable: FixtureTool;
  /** A prompt that asks for its context. */
  readonly prompt: Handler<GetPromptResult>;
}

/** A new server with `fixture` under the suite's names. */
export function serverWith(fixture: Fixture, policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'conformance', version: '1.0.0' }, policy);
  const tools: Readonly<Record<string, FixtureTool>> = {
    elicitation: fixture.greet,
    sampling: fixture.capital,
    list_roots: fixture.roots,
    request_state: fixture.confirm,
    // The same handler: the boundary around it rejects tampered state.
    tampered_state: fixture.confirm,
    multiple_inputs: fixture.introduce,
    multi_round: fixture.twoSteps,
    capabilities: fixture.askable,
  };
  for (const [name, tool] of Object.entries(tools)) {
    server.registerTool(`${PREFIX}${name}`, { inputSchema: noArguments }, tool);
  }
  const prompt = { argsSchema: noArguments };
  server.registerPrompt(`${PREFIX}prompt`, prompt, fixture.prompt);
  return server;
}
