/** The suite's expected tools and prompt, as outlines: each option writes them in its shape. */
import { randomBytes } from 'node:crypto';
import {
  type CallToolResult,
  type CreateMessageResult,
  type GetPromptResult,
  type InputRequiredResult,
  type ListRootsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { createWorld } from '@mrtr/comparison';
import { type LoadedOption, loadOptions } from '@mrtr/comparison/options';
import {
  cancelledResult,
  elicitation,
  listRoots,
  type McpServer,
  MemoryLedger,
  type Questions,
  readAnswer,
  requestStatePolicy,
  type ServerContext,
  sampling,
  textResult,
} from '@mrtr/core';
import { type HttpHosting, serveHttp } from '@mrtr/hosting/http';
import { type Data, type Outline, type Write, writerOf } from '@mrtr/matrix/outlines';
import { z } from 'zod';

const Name = z.object({ name: z.string() });

const fromUser = (text: string, maxTokens: number) =>
  sampling({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

const userName = elicitation('What is your name?', Name);
const confirm = elicitation('Please confirm', z.object({ ok: z.boolean() }));
const step1 = elicitation('Step 1: What is your name?', Name);
const step2 = elicitation('Step 2: What is your favorite color?', z.object({ color: z.string() }));
const userContext = elicitation('What context should the prompt use?', z.object({ context: z.string() }));
const capitalQuestion = fromUser('What is the capital of France?', 100);
const greeting = fromUser('Generate a greeting', 50);

/** The accepted answers of all questions, by their keys. */
interface Answers {
  readonly user_name: { readonly name: string };
  readonly capital_question: CreateMessageResult;
  readonly greeting: CreateMessageResult;
  readonly client_roots: ListRootsResult;
  readonly confirm: { readonly ok: boolean };
  readonly step1: { readonly name: string };
  readonly step2: { readonly color: string };
  readonly user_context: { readonly context: string };
}

/** Asks `rounds`, one after the other. */
const asking = (
  rounds: readonly Questions[],
  end: (answers: Answers) => CallToolResult,
  { ifAskable = false } = {},
): Outline<CallToolResult> => ({
  steps: rounds.map((asks) => ({ asks, ifAskable })),
  end: (data: Data) => end(data as unknown as Answers),
  refused: cancelledResult,
});

const PREFIX = 'test_input_required_result_';

/**
 * The only tool that accepts an unasked answer: the scenario `ignore-extra-params` expects it. See docs/conformance.md.
 */
const TAKES_UNASKED = `${PREFIX}elicitation`;

const hello = ({ name }: Answers['user_name']) => textResult(`Hello, ${name}!`);
// Asks again after an answer without its state. The boundary rejects tampered state.
const confirming = asking([{ confirm }], (data) => textResult(`state-ok, confirmed: ${data.confirm.ok}`));

const TOOLS: Readonly<Record<string, Outline<CallToolResult>>> = {
  elicitation: asking([{ user_name: userName }], ({ user_name }) => hello(user_name)),
  sampling: asking([{ capital_question: capitalQuestion }], ({ capital_question }) =>
    textResult(textOf(capital_question)),
  ),
  list_roots: asking([{ client_roots: listRoots() }], ({ client_roots: { roots } }) =>
    textResult(`Roots: ${roots.map(({ uri }) => uri).join(', ')}`),
  ),
  request_state: confirming,
  tampered_state: confirming,
  multiple_inputs: asking([{ user_name: userName, greeting, client_roots: listRoots() }], (all) =>
    textResult(
      `${textOf(all.greeting)} ${all.user_name.name}, with ${all.client_roots.roots.length} root(s).`,
    ),
  ),
  multi_round: asking([{ step1 }, { step2 }], (all) =>
    textResult(`${all.step1.name} likes ${all.step2.color}.`),
  ),
  capabilities: asking(
    [{ user_name: userName, capital_question: capitalQuestion }],
    (all) =>
      textResult(`Answered: ${Object.keys(all).join(', ') || 'nothing, for this client cannot be asked'}.`),
    { ifAskable: true },
  ),
};

const PROMPT: Outline<GetPromptResult> = {
  steps: [{ asks: { user_context: userContext } }],
  end: (data) => {
    const text = `Answer in this context: ${(data as unknown as Answers).user_context.context}`;
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  },
  refused: () => {
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Cancelled.');
  },
};

const textOf = ({ content }: CreateMessageResult): string =>
  content.type === 'text' ? content.text : `(${content.type})`;

/** The options that the suite runs on. */
export const OPTIONS_UNDER_TEST: readonly LoadedOption[] = (await loadOptions()).filter(
  ({ claims }) => claims.conformance === true,
);

/** Serves the fixture in the shape of `option`. */
export function serve(option: LoadedOption): Promise<HttpHosting> {
  const policy = requestStatePolicy({
    // No other process resumes its calls, so its key and its ledger can be the process's own.
    keys: [randomBytes(32)],
    ledger: new MemoryLedger(),
    unaskedAnswers: [TAKES_UNASKED],
  });
  const running = option.create({ world: createWorld(), policy });
  const { write } = writerOf(option, running);
  const server = () => {
    const fixture = running.server();
    register(fixture, write, option.claims.modern.framesHeld > 0);
    return fixture;
  };
  return serveHttp({ server, close: running.close }, { legacyClients: 'stateless', drainSeconds: 1 });
}

function register(server: McpServer, write: Write, parks: boolean): void {
  const inputSchema = z.object({});
  for (const [name, outline] of Object.entries(TOOLS)) {
    const tool = write(outline) as (input: object, ctx: ServerContext) => Promise<CallToolResult>;
    const takesUnasked = parks && PREFIX + name === TAKES_UNASKED;
    server.registerTool(PREFIX + name, { inputSchema }, takesUnasked ? readingUnasked(tool) : tool);
  }
  server.registerPrompt(`${PREFIX}prompt`, { argsSchema: inputSchema }, write(PROMPT) as never);
}

/** Reads an unasked answer before the handler starts, because a parked handler has already asked. */
const readingUnasked =
  (tool: (input: object, ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>) =>
  async (input: object, ctx: ServerContext) => {
    const isFirst = ctx.mcpReq.requestState() === undefined;
    const answer = readAnswer(ctx, 'user_name', userName);
    return isFirst && answer.kind === 'accepted' ? hello(answer.value) : tool(input, ctx);
  };
