#!/usr/bin/env node
/**
 * An MCP server of 2025-11-25 on the published v1 SDK. It is correct, unless `--fault ID` adds the fault that the check of
 * that id finds.
 *
 *   node old.mjs [--http PORT] [--fault ID]
 *
 * The tool `transfer` asks for an account, then for a consent, and then counts as done. `count` says how many were.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const { http, fault } = parseArgs({
  options: { http: { type: 'string' }, fault: { type: 'string' } },
}).values;
const faulty = (id) => fault === id;
const MAX_TRIES = 3;
let done = 0;

const say = (text, isError = false) => ({ content: [{ type: 'text', text }], isError });

const ACCOUNT = { type: 'string', enum: ['checking', 'savings'] };
const SURE = { type: 'boolean', ...(faulty('consent.default-yes') && { default: true }) };
const fitsAccount = (value) => ACCOUNT.enum.includes(value);
const fitsSure = (value) => typeof value === 'boolean';

/** Shows an argument in a question as quoted JSON in ASCII. */
const shown = (value) =>
  faulty('consent.spoofed')
    ? value
    : JSON.stringify(value).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`);

/** Thrown by a question that got no answer. Its result shows the user's response, as some servers do. */
class NoAnswer extends Error {
  constructor(message, response) {
    super(message);
    this.response = response;
  }

  get result() {
    const { content, isError } = say(this.message, this.response === undefined);
    return { content: [...content, { type: 'text', text: JSON.stringify(this.response ?? null) }], isError };
  }
}

/** Asks until an answer fits. @throws NoAnswer */
async function ask(extra, message, name, schema, fits) {
  const required = faulty('consent.empty-form') && name === 'sure' ? [] : [name];
  const requestedSchema = { type: 'object', properties: { [name]: schema }, required };
  const tries = faulty('refusal.rounds-bounded') ? 1000 : MAX_TRIES;
  for (let at = 0; at < tries; at++) {
    const params = { mode: 'form', message, requestedSchema };
    const request = { method: 'elicitation/create', params };
    const { action, content = {} } = await extra.sendRequest(request, ResultSchema, { timeout: 600_000 });
    const given = content[name];
    if (action !== 'accept') {
      if (faulty('answer.refusal-with-content') && fits(given)) return given;
      if (faulty(action === 'decline' ? 'refusal.decline-ends' : 'refusal.cancel-ends')) continue;
      if (faulty('refusal.no-effect') && ['decline', 'cancel'].includes(action)) done++;
      throw new NoAnswer(`The user said ${action}.`, { action, content });
    }
    if (fits(given)) return given;
    if (faulty('consent.empty-form') && name === 'sure' && given === undefined) return true;
    if (faulty('answer.empty-accept') && given === undefined) return name === 'sure' || 'checking';
    if (faulty('answer.invalid') && given !== undefined) return given;
  }
  throw new NoAnswer('No answer fitted.');
}

/** Whether this client can be asked by a form: since modes exist, an empty declaration means forms. */
function canAsk({ elicitation }) {
  if (elicitation === undefined) return faulty('capability.undeclared');
  return faulty('capability.mode') || 'form' in elicitation || Object.keys(elicitation).length === 0;
}

function makeServer() {
  const server = new McpServer({ name: 'old', version: '1.0.0' });
  const inputSchema = {
    to: z.string(),
    amount: z.number(),
    note: z.string().optional(),
    confirmed: z.boolean().optional(),
  };
  if (!faulty('consent.argument')) delete inputSchema.confirmed;
  server.registerTool('transfer', { inputSchema }, async ({ to, amount, note, confirmed }, extra) => {
    const write = () => {
      done++;
    };
    if (!canAsk(server.server.getClientCapabilities() ?? {})) {
      if (!faulty('consent.unasked-effect')) return say('This client cannot be asked.', true);
      write();
      return say('Sent, as this client cannot be asked.');
    }
    try {
      if (confirmed) {
        write();
        return say(`Sent ${amount} to ${to}.`);
      }
      if (faulty('effect.before-answer')) write();
      const account = await ask(extra, 'From which account?', 'account', ACCOUNT, fitsAccount);
      const words = `Really send ${shown(amount)} to ${shown(to)}${note ? ` for ${shown(note)}` : ''}?`;
      const message = faulty('consent.blind') ? 'Really send it?' : words;
      const sure = await ask(extra, message, 'sure', SURE, fitsSure);
      if (!sure && !faulty('consent.false-in-form')) return say('The user said no.');
      if (!faulty('effect.before-answer')) write();
      if (faulty('effect.once')) write();
      return say(`Sent ${amount} from ${account} to ${to}.`);
    } catch (error) {
      if (error instanceof NoAnswer) return error.result;
      throw error;
    }
  });
  server.registerTool('count', { annotations: { readOnlyHint: true } }, () => say(`${done}`));
  return server;
}

if (http === undefined) await makeServer().connect(new StdioServerTransport());
else {
  const sessions = new Map();
  createServer(async (req, res) => {
    const known = sessions.get(req.headers['mcp-session-id']);
    if (known) return known.handleRequest(req, res);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await makeServer().connect(transport);
    return transport.handleRequest(req, res);
  }).listen(Number(http));
}
