/** What the suite expects to find on a server, whichever shape its handlers have. */
import {
  type CallToolResult,
  type GetPromptResult,
  type McpServer,
  protectedServer,
  type RequestStatePolicy,
  type SdkCallback,
} from '@mrtr/core';
import { z } from 'zod';

/** The input schema of all of them. */
export const noArguments = z.object({});

/** What a fixture's tools are called with. */
export type NoArguments = z.output<typeof noArguments>;

/** One of a fixture's tools. */
export type FixtureTool = SdkCallback<NoArguments, CallToolResult>;

/** The handlers that a shape's file writes. */
export interface Fixture {
  /** Asks for a name. It also takes one that came unasked; see `unaskedAnswer`. */
  readonly greet: FixtureTool;
  /** Asks the client's model. */
  readonly capital: FixtureTool;
  /** Asks for the client's roots. */
  readonly roots: FixtureTool;
  /** Asks for a confirmation, with state; an answer without that state is asked for again. */
  readonly confirm: FixtureTool;
  /** Asks the user, the model and for the roots in one round. */
  readonly introduce: FixtureTool;
  /** Asks for a name, then for a colour. */
  readonly twoSteps: FixtureTool;
  /** Asks what the client declared that it can be asked. */
  readonly askable: FixtureTool;
  /** A prompt that asks for its context. */
  readonly prompt: SdkCallback<NoArguments, GetPromptResult>;
}

/** A new server with `fixture` under the suite's names. */
export function serverWith(fixture: Fixture, policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'conformance', version: '1.0.0' }, policy);
  const tools: Readonly<Record<string, FixtureTool>> = {
    elicitation: fixture.greet,
    sampling: fixture.capital,
    list_roots: fixture.roots,
    request_state: fixture.confirm,
    // The same handler: what rejects a tampered state is the boundary around it.
    tampered_state: fixture.confirm,
    multiple_inputs: fixture.introduce,
    multi_round: fixture.twoSteps,
    capabilities: fixture.askable,
  };
  for (const [name, tool] of Object.entries(tools)) {
    server.registerTool(`test_input_required_result_${name}`, { inputSchema: noArguments }, tool);
  }
  const prompt = { argsSchema: noArguments };
  server.registerPrompt('test_input_required_result_prompt', prompt, fixture.prompt);
  return server;
}
