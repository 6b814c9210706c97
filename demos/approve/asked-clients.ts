/** The clients that are asked for a yes: three kinds with a person, and one that says yes by itself. */

import { RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import { type Client, callSubject, type SubjectCall, toolCall } from '@mrtr/comparison/calls';
import type { OptionDeps } from '@mrtr/comparison/options';
import { selfAnswering } from '@mrtr/comparison/self-answering';
import { observe } from '@mrtr/core/events';
import { callerNamed, type Reply, scriptedUser, type User } from '@mrtr/harness';
import { resultText, type Transcript, tally } from '@mrtr/harness/transcript';
import { type Site, siteOf, type Where } from './site.ts';
import type { CreateServer } from './tracker.ts';

type Decision = Parameters<Site['press']>[1];

export interface AskedClient {
  readonly title: string;
  readonly where: Where;
  readonly state: 'Active' | 'Resolved';
  /** Set if a program answers instead of a person. */
  readonly isAgent?: true;
  /** The user of the client; undefined for a client that cannot be asked, whose model calls again. */
  readonly user?: (site: Site, decision: Decision) => User;
  /** Ada's decision on the page. Default: she approves. */
  readonly decision?: Decision;
}

const ACCEPT: Reply = { action: 'accept' };
const LINK = /https:\S+/;
const linkIn = (text: string) => LINK.exec(text)?.[0] ?? '';

const opensPages = (site: Site, decision: Decision) =>
  scriptedUser({ resolution: ['Fixed'] }, async ({ url }) => {
    await site.press(url, decision);
    return ACCEPT;
  });

const showsForms =
  (site: Site, decision: Decision): User =>
  async ({ message }) => {
    const link = linkIn(message);
    if (link === '') return { action: 'accept', content: { resolution: 'Fixed' } };
    await site.press(link, decision);
    return { action: 'accept', content: {} };
  };

const UNATTENDED = {
  state: 'Resolved',
  isAgent: true,
  user: () => selfAnswering('the affirmative value'),
} as const;

export const ASKED_CLIENTS: readonly AskedClient[] = [
  { title: 'a client that opens URLs', where: 'page', state: 'Resolved', user: opensPages },
  { title: 'a client that shows forms only', where: 'page', state: 'Resolved', user: showsForms },
  { title: 'a client that cannot be asked, and calls again', where: 'page', state: 'Active' },
  { title: 'a client that says yes to all, asked in a form', where: 'form', ...UNATTENDED },
  { title: 'the same client, asked on the page', where: 'page', ...UNATTENDED },
];

/** Makes one call of such a client. `onEvent` gets its events. */
export type MakeOneCall = (options?: Pick<SubjectCall, 'onEvent' | 'takeLines'>) => Promise<Transcript>;

/**
 * Makes the calls of an asked client. `show` makes each of them, and may draw it.
 *
 * @returns the number of writes, and the assurances of the receipts.
 */
export async function callWith(
  { where, state, user, title, decision = 'approve' }: AskedClient,
  createServer: CreateServer,
  show: (call: MakeOneCall) => Promise<Transcript> = (call) => call(),
) {
  const site = siteOf(createServer, where);
  const assurances: string[] = [];
  const stop = observe('mrtr:approval', ({ receipt }) => receipt && assurances.push(receipt.assurance));
  const client: Client = user ? 'modern' : 'unaskable';
  const call = toolCall(RESOLVE_WORK_ITEM, { id: 4522, state });
  const make: MakeOneCall = (options) =>
    callSubject({
      subject: { id: where, title, create: ({ world }) => site.instance(world) },
      ...{ client, hosting: 'memory', legacy: 'degrade', caller: callerNamed('ada'), call, ...options },
      user: user?.(site, decision),
    });
  try {
    const first = await show(make);
    const transcripts = [first];
    if (!user) {
      await site.press(linkIn(resultText(first.end.result ?? {})), decision);
      transcripts.push(await show(make));
    }
    const writes = transcripts.map((transcript) => tally(transcript).effects.write ?? 0);
    return { writes: writes.reduce((sum, count) => sum + count), assurances, transcripts };
  } finally {
    stop();
  }
}

/** The tool with an approval, for the matrix. */
export const guardedSubject = (name: string, createServer: CreateServer, where: Where) => ({
  id: name,
  name,
  title: name,
  create: ({ policy, world }: OptionDeps) => siteOf(createServer, where, policy).instance(world),
});
