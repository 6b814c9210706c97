/** Rejected, late and abandoned requests use up no approval, and give their place back. */
import { inspect } from 'node:util';
import {
  inputRequired,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { Deferred, settle } from '@mrtr/harness/internal';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { ask } from '../answers/ask.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { errorResult, textResult } from '../results.ts';
import { findCall, MRTR_REVISION } from '../wire/call.ts';
import { Admission, type ServedMethod } from './admission.ts';
import { as, ledgerLike, ledgerThat, REJECTED, sure, UNKNOWN, YES } from './asking.test-support.ts';
import { eventsOf, hostTools, type PostOptions, type TestOptions } from './hosted.test-support.ts';
import { type LeaseDecision, type LeaseRequest, MemoryLedger } from './ledger.ts';
import { partsOf, type RequestStateOptions, requestStatePolicy, withFixedLimits } from './policy.ts';
import { Rejections } from './rejections.ts';

const DONE = { content: [{ type: 'text', text: 'Paid.' }] };
const TOO_LARGE = errorResult('This step was done. Its result is too large to repeat.');
const TOO_MANY = { error: { code: -32603, data: { reason: 'too_many_calls' } } };

/** A tool that pays after it has asked. Each payment waits for the test. */
function till(
  options: RequestStateOptions = {},
  { inputSchema = z.object({}), registered = (_tool: { disable(): void }) => {} } = {},
) {
  const payments: { readonly signal: AbortSignal; readonly end: Deferred }[] = [];
  const site = hostTools(
    (server) =>
      registered(
        server.registerTool('pay', { inputSchema }, async (_, ctx) => {
          if (readAnswer(ctx, 'sure', sure).kind !== 'accepted') return ask({ sure });
          const end = new Deferred();
          payments.push({ signal: ctx.mcpReq.signal, end });
          await end.promise;
          return textResult('Paid.');
        }),
      ),
    { singleUse: 'replay', ledger: new MemoryLedger(), ...options },
  );
  const params = { name: 'pay', arguments: {} };
  const call = (by?: PostOptions) => site.post('tools/call', params, by);
  const begin = async (by?: PostOptions) => {
    const { result } = await call(by);
    expect(result).toMatchObject({ resultType: 'input_required' });
    return { ...params, requestState: result?.requestState as string, inputResponses: YES };
  };
  const retry = (params: Awaited<ReturnType<typeof begin>>, by?: PostOptions) =>
    site.post('tools/call', params, by);
  /** Waits until as many payments have been started. */
  const paying = (count: number) => expect.poll(() => payments.length).toBe(count);
  /** Makes a retry that pays at once. */
  const pay = async (params: Awaited<ReturnType<typeof begin>>) => {
    const count = payments.length + 1;
    const reply = retry(params);
    await paying(count);
    payments.at(-1)?.end.open();
    return reply;
  };
  return { ...site, payments, call, begin, retry, paying, pay };
}

/** Sends a retry, hangs up when `when` says, and waits until the server has noticed. */
async function hangUp(
  site: ReturnType<typeof till>,
  params: Awaited<ReturnType<typeof site.begin>>,
  when: () => Promise<unknown>,
  by?: PostOptions,
) {
  const client = new AbortController();
  const sent = site.send('tools/call', params, { ...by, signal: client.signal });
  await when();
  client.abort();
  expect((await sent).status).toBe(499);
}

test('a retry that finds no free place spends nothing: it is served when a place is free', async () => {
  const rejections = eventsOf('mrtr:rejection');
  const site = till({ limits: { requests: 1 } });
  const [one, two] = [await site.begin(), await site.begin()];
  const busy = site.retry(one);
  await site.paying(1);
  expect(await site.retry(two)).toMatchObject(TOO_MANY);
  expect(rejections).toMatchObject([{ reason: 'busy', detail: 'too_many_calls' }]);
  site.payments[0]?.end.open();
  expect((await busy).result).toMatchObject(DONE);
  expect((await site.pay(two)).result).toMatchObject(DONE);
});

test('of 1000 copies of a retry, as many are admitted as there are places, and one is served', async () => {
  const memory = new MemoryLedger();
  const lease = vi.fn((presented: LeaseRequest) => memory.lease(presented));
  const site = till({ limits: { requests: 2 }, ledger: ledgerLike(memory, { lease }) });
  const params = await site.begin();
  const replies = Promise.all(Array.from({ length: 1000 }, () => site.retry(params)));
  await site.paying(1);
  const asked = lease.mock.calls.length;
  site.payments[0]?.end.open();
  const results = await replies;
  expect(results.filter(({ result }) => result !== undefined)).toHaveLength(2);
  expect(
    results.filter(({ error }) => error?.message.startsWith('This server has too many calls')),
  ).toHaveLength(998);
  expect(site.payments).toHaveLength(1);
  // Two requests ask the ledger, and the waiting one asks again now and then.
  expect(asked).toBeLessThan(100);
});

test('waiting retries of one caller count for that caller', async () => {
  const site = till({ limits: { requests: 4, perPrincipal: 0.5 } });
  const ada = as('ada');
  const params = await site.begin(ada);
  const [first, second] = [site.retry(params, ada), site.retry(params, ada)];
  await site.paying(1);
  expect((await site.retry(params, ada)).error?.message).toMatch(/^You have too many calls running/);
  const other = await site.begin(as('bob'));
  const bobs = site.retry(other, as('bob'));
  await site.paying(2);
  for (const { end } of site.payments) end.open();
  for (const reply of [first, second, bobs]) expect((await reply).result).toMatchObject(DONE);
});

test('the total is counted before the caller is identified, and is given back where that fails', async () => {
  const known = new Deferred<string>();
  const principal = vi.fn(() => known.promise);
  const site = till({ limits: { requests: 2 }, principal });
  const waiting = [1, 2].map(() => site.call());
  await expect.poll(() => principal.mock.calls.length).toBe(2);
  expect(await site.call()).toMatchObject(TOO_MANY);
  expect(principal).toHaveBeenCalledTimes(2);
  known.fail(new Error('the directory is down'));
  for (const reply of waiting) expect((await reply).error).toMatchObject({ message: 'Internal error' });
  principal.mockImplementation(async () => 'ada');
  await site.begin();
});

test('a client that hangs up while the ledger decides spends nothing: its lease is given back', async () => {
  const decided = new Deferred<LeaseDecision>();
  const lease = vi.fn(() => decided.promise);
  const release = vi.fn(async () => {});
  const site = till({ ledger: { ...ledgerThat(lease), release } });
  await hangUp(site, await site.begin(), () => expect.poll(() => lease.mock.calls.length).toBe(1));
  decided.open({ kind: 'first', lease: 'lease 1' });
  await expect.poll(() => release.mock.calls).toEqual([[expect.any(String), 'lease 1']]);
  expect(site.payments).toEqual([]);
  expect(site.errors.join()).toContain('rejected: hung_up');
});

test('a token that expires while the ledger decides is rejected, and its lease is given back', async () => {
  let now = 1_800_000_000_000;
  const release = vi.fn(async () => {});
  const lease = () => {
    now += 600_000;
    return { kind: 'first', lease: 'lease 1' };
  };
  const ledger = { ...ledgerThat(lease), release };
  const site = till({ ledger, ttlSeconds: 600, now: () => now });
  expect(await site.retry(await site.begin())).toEqual(REJECTED);
  expect(release).toHaveBeenCalledWith(expect.any(String), 'lease 1');
  expect(site.errors.join()).toContain('rejected: expired');
});

test('with `reject`, a retry does not wait for another', async () => {
  const site = till({ singleUse: 'reject' });
  const params = await site.begin();
  const served = site.retry(params);
  await site.paying(1);
  expect(await site.retry(params)).toEqual(REJECTED);
  site.payments[0]?.end.open();
  expect((await served).result).toMatchObject(DONE);
  expect(site.errors.join()).toContain('rejected: repeated (in_flight)');
});

test('a retry whose client hangs up while it waits asks the ledger no more', async () => {
  const memory = new MemoryLedger();
  const lease = vi.fn((presented: LeaseRequest) => memory.lease(presented));
  const site = till({ ledger: ledgerLike(memory, { lease }) });
  const params = await site.begin();
  const served = site.retry(params);
  await site.paying(1);
  await hangUp(site, params, () => expect.poll(() => lease.mock.calls.length).toBeGreaterThan(1));
  await expect.poll(() => site.errors.join()).toContain('rejected: hung_up');
  const asked = lease.mock.calls.length;
  site.payments[0]?.end.open();
  expect((await served).result).toMatchObject(DONE);
  expect(lease).toHaveBeenCalledTimes(asked);
});

test('the signal does not fire when the handler has ended, although the SDK fires its own then', async () => {
  const fired = vi.fn();
  const sdks: AbortSignal[] = [];
  const principal = (ctx: ServerContext) => {
    sdks.push(ctx.mcpReq.signal);
    return undefined;
  };
  const late: ServerContext[] = [];
  const site = hostTools(
    (server) => {
      server.registerTool('pay', {}, (ctx) => {
        ctx.mcpReq.signal.addEventListener('abort', fired);
        return textResult('Paid.');
      });
      server.registerTool('look', {}, (ctx) => {
        late.push(ctx);
        return textResult('Paid.');
      });
    },
    { principal },
  );
  for (const name of ['pay', 'look'])
    expect((await site.post('tools/call', { name })).result).toMatchObject(DONE);
  await expect.poll(() => sdks.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(fired).not.toHaveBeenCalled();
  expect(late[0]?.mcpReq.signal.aborted).toBe(false);
});

test('above the limit of abandoned handlers a cancelled call keeps its place, and `onerror` gets that once', async () => {
  const errors: string[] = [];
  const onerror = ({ message }: Error) => void errors.push(message);
  const site = till({ limits: { requests: 2 }, onerror });
  for (let call = 1; call <= 4; call++) await hangUp(site, await site.begin(), () => site.paying(call));
  expect(await site.call()).toMatchObject(TOO_MANY);
  expect(errors.filter((error) => /have not ended/.test(error))).toHaveLength(1);
  for (const { end } of site.payments) end.open();
  await expect.poll(async () => (await site.call()).result).toBeDefined();
});

test('abandoned handlers count for their caller', async () => {
  const site = till({ limits: { requests: 4, perPrincipal: 0.25 } });
  const ada = as('ada');
  await hangUp(site, await site.begin(ada), () => site.paying(1), ada);
  await hangUp(site, await site.begin(ada), () => site.paying(2), ada);
  expect((await site.call(ada)).error?.message).toMatch(/^You have/);
  await site.begin(as('bob'));
});

test('a tool that throws after its client hung up has lost its token', async () => {
  const site = till();
  const params = await site.begin();
  await hangUp(site, params, () => site.paying(1));
  site.payments[0]?.end.fail(new Error('The bank did not answer.'));
  expect((await site.retry(params)).result).toMatchObject(UNKNOWN);
});

test('a tool that is disabled when its answer comes spends nothing', async () => {
  let enabled = true;
  const site = till({}, { registered: (tool) => enabled || tool.disable() });
  const params = await site.begin();
  enabled = false;
  for (const { error } of [await site.call(), await site.retry(params)])
    expect(error?.message).toBe('Tool pay disabled');
  enabled = true;
  const served = await site.pay(params);
  expect(served.result).toMatchObject(DONE);
  expect(await site.retry(params)).toEqual(served);
  expect(site.payments).toHaveLength(1);
});

test('arguments that do not fit any more spend nothing', async () => {
  let fit = true;
  const site = till({}, { inputSchema: z.object({}).refine(() => fit) });
  const params = await site.begin();
  fit = false;
  expect((await site.retry(params)).result).toMatchObject({ isError: true });
  fit = true;
  expect((await site.pay(params)).result).toMatchObject(DONE);
  expect(site.payments).toHaveLength(1);
});

test('a handler that is not watched spends its token, and so does one that was replaced or is low-level', async () => {
  const entries: string[] = [];
  const asksThenRejects = (name: string) => (ctx: ServerContext) => {
    if (ctx.mcpReq.requestState() === undefined) return inputRequired({ requestState: 'asked' });
    entries.push(name);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'no');
  };
  const site = hostTools(
    (server) => {
      Object.assign(
        server.registerTool('unwatched', {}, () => textResult('')),
        { executor: async (_: unknown, ctx: ServerContext) => asksThenRejects('unwatched')(ctx) },
      );
      server
        .registerTool('replaced', { inputSchema: z.object({}) }, () => textResult(''))
        .update({ callback: (_, ctx) => asksThenRejects('replaced')(ctx) });
      server.server.registerCapabilities({ prompts: {} });
      server.server.setRequestHandler('prompts/get', (_, ctx) => asksThenRejects('low-level')(ctx));
    },
    { ledger: new MemoryLedger() },
  );
  const names = ['unwatched', 'replaced', 'low-level'];
  for (const name of names) {
    const method = name === 'low-level' ? 'prompts/get' : 'tools/call';
    const params = { name, arguments: {} };
    const { result } = await site.post(method, params);
    const retry = { ...params, requestState: result?.requestState };
    const first = await site.post(method, retry);
    expect(await site.post(method, retry)).toEqual(first);
  }
  expect(entries).toEqual(names);
});

test('a handler that is assigned while the arguments are validated spends its token, whatever it returns', async () => {
  let payments = 0;
  let isReplaced = false;
  const { post } = hostTools(
    (server) => {
      const inputSchema = z.object({}).refine(async () => {
        if (isReplaced) Object.assign(registered, { executor: payAndFail });
        return true;
      });
      const payAndFail = async () => {
        payments++;
        return errorResult('Input validation error: the bank has no such account');
      };
      const registered = server.registerTool('pay', { inputSchema }, () => ask({ sure }));
    },
    { ledger: new MemoryLedger() },
  );
  const call = { name: 'pay', arguments: {} };
  const { result } = await post('tools/call', call);
  isReplaced = true;
  const retry = { ...call, requestState: result?.requestState };
  const first = await post('tools/call', retry);
  expect(await post('tools/call', retry)).toEqual(first);
  expect(payments).toBe(1);
});

const never = () => ({}) as never;
const pays = new ResourceTemplate('x://{what}', { list: undefined });

test.each<readonly [method: string, params: Record<string, string>, register: (server: McpServer) => object]>(
  [
    ['tools/call', { name: 'pay' }, (server) => server.registerTool('pay', {}, never)],
    ['prompts/get', { name: 'pay' }, (server) => server.registerPrompt('pay', {}, never)],
    ['resources/read', { uri: 'x://pay' }, (server) => server.registerResource('pay', 'x://pay', {}, never)],
    ['resources/read', { uri: 'x://pay' }, (server) => server.registerResource('pay', pays, {}, never)],
  ],
)(
  'an assigned handler spends its token, though it throws what the SDK does before an entry: %s %o',
  async (method, params, register) => {
    let payments = 0;
    const payAndThrow = async (...args: unknown[]) => {
      const ctx = args.at(-1) as ServerContext;
      if (ctx.mcpReq.requestState() === undefined) return inputRequired({ requestState: 'asked' });
      payments++;
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'Input validation error: the bank has no such account',
      );
    };
    const members = { executor: payAndThrow, handler: payAndThrow, readCallback: payAndThrow };
    const { post } = hostTools((server) => void Object.assign(register(server), members), {
      ledger: new MemoryLedger(),
    });
    const { result } = await post(method, params);
    const retry = { ...params, requestState: result?.requestState };
    const first = await post(method, retry);
    expect(await post(method, retry)).toEqual(first);
    expect(payments).toBe(1);
  },
);

test('a client that hangs up while its arguments are validated spends nothing', async () => {
  const [validating, valid] = [new Deferred(), new Deferred()];
  let slow = false;
  const inputSchema = z.object({}).refine(async () => {
    if (!slow) return true;
    validating.open();
    await valid.promise;
    return true;
  });
  const site = till({}, { inputSchema });
  const params = await site.begin();
  slow = true;
  await hangUp(site, params, () => validating.promise);
  valid.open();
  await settle();
  expect(site.payments).toEqual([]);
  slow = false;
  expect((await site.pay(params)).result).toMatchObject(DONE);
  expect(site.payments).toHaveLength(1);
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a kind that does not exist', { kind: 'constructor' }],
])('a ledger that answers %s rejects the round', async (_what, lease) => {
  const site = till({ ledger: ledgerThat(() => lease) });
  expect(await site.retry(await site.begin())).toMatchObject({
    error: { code: -32603, message: 'The server cannot keep the state of this call' },
  });
  expect(site.payments).toEqual([]);
  if (lease)
    expect(site.errors).toEqual([expect.stringContaining("the kind 'constructor', which does not exist")]);
});

test.each<[string, (presented: LeaseRequest) => unknown, RequestStateOptions, string]>([
  ['a record that is no text', ({ answers }) => ({ kind: 'settled', answers }), {}, 'lost'],
  [
    'a record of other answers',
    () => ({ kind: 'settled', answers: 'no', result: '' }),
    {},
    'repeated (other_answers)',
  ],
  ['a lost token, with `reject`', () => ({ kind: 'lost' }), { singleUse: 'reject' }, 'lost'],
])('%s is rejected, and `onerror` gets the reason', async (_what, lease, options, reason) => {
  const site = till({ ledger: ledgerThat(lease), ...options });
  expect(await site.retry(await site.begin())).toEqual(REJECTED);
  expect(site.errors).toEqual([
    expect.stringMatching(new RegExp(`rejected: ${reason.replace(/[()]/g, '\\$&')}$`)),
  ]);
});

test.each<[string, LeaseDecision | undefined, unknown[]]>([
  ['is given back', { kind: 'first', lease: 'lease 1' }, [[expect.any(String), 'lease 1']]],
  ['gives nothing back where it says nothing', undefined, []],
  ['gives nothing back where another is being served', { kind: 'in-flight' }, []],
])('a decision that comes after its limit %s', async (_what, decision, released) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const decided = new Deferred<LeaseDecision>();
  const release = vi.fn(async () => {});
  const site = till({
    ledger: { ...ledgerThat(() => decided.promise), release },
  });
  const late = site.retry(await site.begin());
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
  await vi.advanceTimersByTimeAsync(5000);
  expect((await late).error).toMatchObject({ code: -32603 });
  decided.open(decision as LeaseDecision);
  await new Promise(setImmediate);
  expect(release.mock.calls).toEqual(released);
  expect(site.payments).toEqual([]);
});

test('the digest covers every answer that passes, unasked ones too', async () => {
  const read: unknown[] = [];
  const site = hostTools(
    (server) => {
      server.registerTool('pay', {}, (ctx) => {
        if (ctx.mcpReq.requestState() === undefined) return inputRequired({ requestState: 'asked' });
        read.push(ctx.mcpReq.inputResponses);
        return textResult('Paid.');
      });
    },
    { ledger: new MemoryLedger(), unaskedAnswers: ['pay'] },
  );
  const { result } = await site.post('tools/call', { name: 'pay' });
  const retry = { name: 'pay', requestState: result?.requestState, inputResponses: YES };
  const first = await site.post('tools/call', retry);
  expect(first.result).toMatchObject(DONE);
  expect(await site.post('tools/call', retry)).toEqual(first);
  const other = { ...retry, inputResponses: { sure: { action: 'decline' } } };
  expect(await site.post('tools/call', other)).toEqual(REJECTED);
  expect(read).toMatchObject([YES]);
});

/** A server whose low-level handler the test enters itself, with a context of its own. */
function admission({ fixed = {}, ...options }: TestOptions, handle: (ctx: ServerContext) => unknown) {
  const policy = withFixedLimits(
    requestStatePolicy({ keys: ['k'.repeat(32)], ledger: new MemoryLedger(), ...options }),
    fixed,
  );
  const server = new McpServer({ name: 'till', version: '1.0.0' });
  server.server.getNegotiatedProtocolVersion = () => MRTR_REVISION;
  const reported: string[] = [];
  const rejections = new Rejections(({ message }) => void reported.push(message));
  const target: ServedMethod = {
    method: 'tools/call',
    handler: (_, ctx) => handle(ctx),
  };
  const admitted = new Admission(server, partsOf(policy), rejections, 'till');
  const send = (state: string | undefined, signal = new AbortController().signal) =>
    admitted.admit(target, { params: { name: 'pay' } }, {
      mcpReq: { method: 'tools/call', requestState: () => state, signal },
    } as unknown as ServerContext);
  const begin = async () => ((await send(undefined)) as { requestState: string }).requestState;
  return { policy: partsOf(policy), reported, send, begin };
}

const asksFirst =
  (end: (ctx: ServerContext) => unknown) =>
  (ctx: ServerContext): unknown =>
    ctx.mcpReq.requestState() === undefined ? inputRequired({ requestState: 'asked' }) : end(ctx);

test("a log of a handler's context shows neither keys, nor tokens, nor the principal", async () => {
  let logged = '';
  const { send, begin } = admission(
    { principal: () => 'ada with a secret' },
    asksFirst((ctx) => {
      logged = inspect(ctx, { depth: 9 }) + inspect({ ...findCall(ctx) }, { depth: 9 });
      return textResult('Paid.');
    }),
  );
  const state = await begin();
  expect(await send(state)).toMatchObject(textResult('Paid.'));
  expect(logged).toContain('stateBytes');
  for (const secret of ['cipher', 'secret', state]) expect(logged).not.toContain(secret);
});

test('a request that was cancelled before it came counts among the abandoned', async () => {
  const principal = new Deferred<undefined>();
  const { policy, send } = admission({ principal: () => principal.promise }, () => textResult('Paid.'));
  void send(undefined, AbortSignal.abort());
  expect([policy.running.total, policy.abandoned.total]).toEqual([0, 1]);
});

test('a request that was cancelled before its lease does not ask the ledger', async () => {
  const memory = new MemoryLedger();
  const lease = vi.fn((presented: LeaseRequest) => memory.lease(presented));
  const ledger = ledgerThat(lease);
  const { reported, send, begin } = admission(
    { ledger },
    asksFirst(() => textResult('Paid.')),
  );
  await expect(send(await begin(), AbortSignal.abort())).rejects.toMatchObject({ code: -32602 });
  expect(lease).not.toHaveBeenCalled();
  expect(reported).toEqual([expect.stringContaining('hung_up')]);
});

test.each<[string, () => unknown, object, unknown[]]>([
  ['what a handler returns after a hang-up is kept', () => textResult('Paid.'), DONE, []],
  [
    'a handler that throws after a hang-up has lost its token',
    () => Promise.reject(new Error('no')),
    UNKNOWN,
    [expect.stringContaining('rejected: lost')],
  ],
])('%s', async (_what, end, again, reasons) => {
  const client = new AbortController();
  const { reported, send, begin } = admission(
    {},
    asksFirst(() => {
      client.abort();
      return end();
    }),
  );
  const state = await begin();
  await send(state, client.signal).catch(() => {});
  expect(await send(state)).toMatchObject(again);
  expect(reported).toEqual(reasons);
});

test.each<[string, () => unknown]>([
  ['a result', () => textResult('Paid.')],
  ['an error', () => Promise.reject(new Error('no'))],
])('%s is recorded before its client gets it', async (_what, end) => {
  const recorded = new Deferred();
  const settle = vi.fn(() => recorded.promise);
  const { send, begin } = admission({ ledger: ledgerLike(new MemoryLedger(), { settle }) }, asksFirst(end));
  const ended = vi.fn();
  void send(await begin()).then(ended, ended);
  await expect.poll(() => settle.mock.calls.length).toBe(1);
  await new Promise(setImmediate);
  expect(ended).not.toHaveBeenCalled();
  recorded.open();
  await expect.poll(() => ended.mock.calls.length).toBe(1);
});

const UNREADABLE = Object.defineProperty(new Error('x'), 'code', {
  get() {
    throw new Error('no');
  },
});

test.each<[string, () => unknown]>([
  ['a result with a bigint', () => ({ content: [], structuredContent: { n: 1n } })],
  ['an error whose members throw', () => Promise.reject(UNREADABLE)],
])('%s cannot be recorded: its token is lost at once', async (_what, end) => {
  const enter = vi.fn(end);
  const { send, begin } = admission({}, asksFirst(enter));
  const state = await begin();
  await send(state).catch(() => {});
  expect(await send(state)).toMatchObject(UNKNOWN);
  expect(enter).toHaveBeenCalledTimes(1);
});

test.each([
  ['undefined', undefined],
  ['null', null],
  ['a text', 'no'],
])('a handler that throws %s has an answer: an internal error', async (_what, thrown) => {
  const { send, begin } = admission(
    {},
    asksFirst(() => {
      throw thrown;
    }),
  );
  const error = await send(await begin()).catch((rejected: unknown) => rejected);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ message: String(thrown) });
});

test('an error is repeated with its code, its message and its data', async () => {
  const thrown = new ProtocolError(-32_050, 'The till is closed', { until: 'Monday' });
  const { send, begin } = admission(
    {},
    asksFirst(() => Promise.reject(thrown)),
  );
  const state = await begin();
  await expect(send(state)).rejects.toBe(thrown);
  await expect(send(state)).rejects.toMatchObject({
    code: -32_050,
    message: 'The till is closed',
    data: { until: 'Monday' },
  });
});

test.each([
  ['is kept', 0],
  ['is not kept where it has a byte more', 1],
])('a result of the most bytes %s', async (_what, more) => {
  const result = textResult('ä'.repeat(10));
  const resultBytes = Buffer.byteLength(JSON.stringify({ result })) - more;
  const { send, begin } = admission(
    { fixed: { resultBytes } },
    asksFirst(() => result),
  );
  const state = await begin();
  await send(state);
  expect(await send(state)).toMatchObject(more === 0 ? result : TOO_LARGE);
});

test.each([
  ['message is no text', { code: -32_050, message: 5 }, { code: -32_050, message: 'Internal error' }],
  ['code is no number', { code: 'ENOENT', message: 'no' }, { code: -32_603, message: 'no' }],
])('an error whose %s is repeated as an internal error', async (_what, thrown, repeated) => {
  const { reported, send, begin } = admission(
    {},
    asksFirst(() => Promise.reject(thrown)),
  );
  const state = await begin();
  await expect(send(state)).rejects.toMatchObject({ code: thrown.code });
  await expect(send(state)).rejects.toMatchObject(repeated);
  expect(reported).toEqual([]);
});
