/** `hideUnaskable`: a tool that its client cannot be asked for is not offered. */
import { expect, test } from 'vitest';
import { ask } from '../answers/ask.ts';
import { textResult } from '../results.ts';
import type { InputKind } from '../wire/input-kind.ts';
import { sure } from './asking.test-support.ts';
import { hostServers, hostTools, oldClient, type TestOptions } from './hosted.test-support.ts';
import { requestStatePolicy } from './policy.ts';
import { protectedServer } from './protected-server.ts';
import { shapeCallback } from './shape-callback.ts';

const asking = (...asks: InputKind[]) =>
  shapeCallback<object, never>({ name: 'test', asks }, async () => ask({ sure }));

/** One tool that needs a form, one that needs a page, one that asks and does not say so, and one that asks nothing. */
const host = (options: TestOptions) =>
  hostTools((server) => {
    server.registerTool('form', {}, asking('elicitation'));
    server.registerTool('page', {}, asking('elicitation.url'));
    server.registerTool('silent', {}, () => ask({ sure }));
    server.registerTool('plain', {}, () => textResult('Done.'));
    const replaced = server.registerTool('replaced', {}, asking('elicitation'));
    Object.assign(replaced, { executor: () => textResult('Done.') });
    server.registerTool('renamed', {}, asking('elicitation')).update({ name: 'moved' });
  }, options);

const ALWAYS = ['silent', 'plain', 'replaced'];
const ALL = ['form', 'page', ...ALWAYS, 'moved'];
const FORMS = ['form', ...ALWAYS, 'moved'];

async function list(options: TestOptions, capabilities: object) {
  const { result } = await host(options).post('tools/list', {}, { capabilities });
  const { tools, cacheScope } = result as { tools: readonly { name: string }[]; cacheScope: string };
  return { names: tools.map(({ name }) => name), cacheScope };
}

test.each([
  ['that declares nothing', {}, ALWAYS],
  ['that shows forms', { elicitation: {} }, FORMS],
  ['that opens pages', { elicitation: { url: {} } }, ['page', ...ALWAYS]],
  ['that does both', { elicitation: { form: {}, url: {} } }, ALL],
])('a client %s is offered the tools that it can be asked for', async (_what, capabilities, offered) => {
  const { names, cacheScope } = await list({ hideUnaskable: true }, capabilities);
  expect(names.toSorted()).toEqual(offered.toSorted());
  expect(cacheScope).toBe('private');
});

test('the list is private, also where the server calls it public', async () => {
  const { post } = hostServers(() => {
    const policy = requestStatePolicy({ hideUnaskable: true });
    const cacheHints = { 'tools/list': { cacheScope: 'public', ttlMs: 9 } } as const;
    const server = protectedServer({ name: 'shop', version: '1' }, policy, { cacheHints });
    server.registerTool('form', {}, asking('elicitation'));
    return server;
  });
  expect((await post('tools/list', {})).result).toMatchObject({
    tools: [{}],
    cacheScope: 'private',
    ttlMs: 9,
  });
});

test('without the option, every tool is offered', async () => {
  expect((await list({}, {})).names.toSorted()).toEqual(ALL.toSorted());
});

test('a call of a tool that is not offered says what is missing', async () => {
  const { error } = await host({ hideUnaskable: true }).post(
    'tools/call',
    { name: 'form' },
    { capabilities: {} },
  );
  expect(error).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { elicitation: { form: {} } } },
  });
});

test('an old client is offered the tools that it can be asked for on its connection', async () => {
  const names = async (options: TestOptions, answer?: () => { action: 'cancel' }) => {
    const client = await oldClient(host({ hideUnaskable: true, ...options }), answer);
    const { tools, ...rest } = await client.listTools();
    expect(rest).not.toHaveProperty('cacheScope');
    return tools.map(({ name }) => name).toSorted();
  };
  const cancel = () => ({ action: 'cancel' }) as const;
  expect(await names({})).toEqual(ALWAYS.toSorted());
  expect(await names({}, cancel)).toEqual(FORMS.toSorted());
  expect(await names({ legacy: 'degrade' }, cancel)).toEqual(ALWAYS.toSorted());
});
