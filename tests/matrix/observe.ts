/** Observations: what is measured of one option in one scenario, as plain data. */
import { isDeepStrictEqual } from 'node:util';
import { type CompleteResult, isCallToolResult, type LegacyPolicy } from '@mrtr/core';
import type {
  ClientKind,
  Conversation,
  ConversationRequest,
  HostingKind,
  LocalHostingKind,
  Subject,
  Transcript,
  WireMessage,
} from '@mrtr/harness';
import type { ToolName } from '@mrtr/tools';
import { RESOLVE_WORK_ITEM } from '@mrtr/tools';
import { converse } from './converse.ts';
import { type Presentations, type RetriedTwice, retryTwice } from './retried-twice.ts';
import type { Script } from './scripts.ts';

/** One cell of the matrix. */
export interface Scenario {
  readonly client: Exclude<ClientKind, 'modern-only'>;
  readonly hosting: Exclude<HostingKind, 'restart'>;
  readonly legacy: LegacyPolicy;
  readonly script: Script;
}

/** What a call came to: the user answered, a default stood in, it failed, or the user said no. */
export type Outcome = 'elicited' | 'default' | 'error' | 'cancelled';

/** Whether the same call, made the same way on other hosting, comes to the same end; if that was tried. */
export type Survival = 'finishes' | 'refused' | 'not measured';

/** What was measured. */
export interface Observation {
  readonly option: string;
  readonly client: Scenario['client'];
  readonly hosting: Scenario['hosting'];
  readonly legacy: LegacyPolicy;
  readonly tool: ToolName;
  readonly script: string;
  readonly outcome: Outcome;
  /** The result's text, or the error's message. */
  readonly result: string;
  /** The questions as the user saw them, in order. */
  readonly questions: readonly string[];
  /** `tools/call` requests on the wire. */
  readonly rounds: number;
  /** Entries into the author's function. */
  readonly entries: number;
  readonly audits: number;
  readonly writes: number;
  /** Length of `requestState` in each `input_required` result, 0 where there is none. */
  readonly stateBytes: readonly number[];
  /** The most frames held in memory while the user was thinking. */
  readonly framesHeld: number;
  /** When each round reaches another instance: on `fleet`, or, where this was measured in processes, on `processes`. */
  readonly otherInstance: Survival;
  /** When the instance is restarted between any two requests; in processes, when the one that asked is killed. */
  readonly restart: Survival;
  /** When each retry is delivered twice; where that was tried. */
  readonly retriedTwice?: Readonly<Record<Presentations, RetriedTwice>>;
}

/** An observation with the conversation it was taken from. */
export interface Observed {
  readonly observation: Observation;
  readonly conversation: Conversation;
}

/** A cell that is measured in this process. */
export interface LocalScenario extends Scenario {
  readonly hosting: Exclude<LocalHostingKind, 'restart'>;
}

/** Measures `subject` in `scenario`: the call itself, and the same call on a fleet and through restarts. */
export async function observe(subject: Subject, scenario: LocalScenario): Promise<Observed> {
  const on = (hosting: LocalHostingKind) => rehearse(subject, { ...scenario, hosting });
  const [memory, fleet, restart] = await Promise.all([on('memory'), on('fleet'), on('restart')]);
  const survival = { otherInstance: sameEnd(memory, fleet), restart: sameEnd(memory, restart) };
  const twice = await retriedTwice(subject, scenario);
  return observed(subject, scenario, scenario.hosting === 'memory' ? memory : fleet, {
    ...survival,
    ...twice,
  });
}

/** Tried where a call writes an item: that is what must not happen twice. */
async function retriedTwice(
  subject: Subject,
  scenario: LocalScenario,
): Promise<Pick<Observation, 'retriedTwice'>> {
  const { client, hosting, legacy, script } = scenario;
  const tried = script.tool === RESOLVE_WORK_ITEM && (script.name === 'fixed' || script.name === 'duplicate');
  if (!tried || client !== 'modern' || hosting !== 'memory' || legacy !== 'degrade') return {};
  const [unlimited, singleUse] = await Promise.all([
    retryTwice(requestOf(subject, scenario), 'unlimited'),
    retryTwice(requestOf(subject, scenario), 'single use'),
  ]);
  return { retriedTwice: { unlimited, 'single use': singleUse } };
}

/** Counts what happened in a conversation, and adds what others came to. */
export function observed(
  subject: Subject,
  scenario: Scenario,
  conversation: Conversation,
  survival: Pick<Observation, 'otherInstance' | 'restart' | 'retriedTwice'>,
): Observed {
  const { transcript } = conversation;
  const { client, hosting, legacy, script } = scenario;
  const count = (kind: Transcript[number]['kind']) =>
    transcript.filter((event) => event.kind === kind).length;
  return {
    conversation,
    observation: {
      option: subject.id,
      client,
      hosting,
      legacy,
      tool: script.tool,
      script: script.name,
      outcome: outcomeOf(conversation),
      result: conversation.error ?? textOf(conversation.result),
      questions: questionsOf(transcript),
      rounds: wireOf(transcript, 'client').filter(({ method }) => method === 'tools/call').length,
      entries: count('entry'),
      audits: count('audit'),
      writes: count('write'),
      stateBytes: stateBytesOf(transcript),
      framesHeld: conversation.framesHeld,
      ...survival,
    },
  };
}

// A conversation with one of our own scripts always goes the same way, so the three cells that need it share it.
const rehearsed = new WeakMap<Subject, Map<string, Promise<Conversation>>>();

/** The conversation of `subject` in a scenario of this process. */
export function rehearse(
  subject: Subject,
  scenario: Omit<Scenario, 'hosting'> & { readonly hosting: LocalHostingKind },
): Promise<Conversation> {
  const { client, hosting, legacy, script } = scenario;
  const known = rehearsed.get(subject) ?? new Map<string, Promise<Conversation>>();
  rehearsed.set(subject, known);
  const key = [client, hosting, legacy, script.tool, script.name].join();
  const conversation = known.get(key) ?? converse(requestOf(subject, scenario));
  known.set(key, conversation);
  return conversation;
}

/** The call that `script` makes, by a new user. */
export function requestOf(
  subject: Subject,
  { script, ...scenario }: Omit<Scenario, 'hosting'> & { readonly hosting: HostingKind },
): ConversationRequest {
  const call = { method: 'tools/call', params: { name: script.tool, arguments: script.arguments } } as const;
  return { subject, ...scenario, call, user: script.user() };
}

/** The messages that one side sent. */
export const wireOf = (transcript: Transcript, from: 'client' | 'server'): WireMessage[] =>
  transcript.flatMap((event) => (event.kind === 'wire' && event.from === from ? [event.message] : []));

const textOf = (result: CompleteResult | undefined): string =>
  (isCallToolResult(result) ? result.content : [])
    .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    .join('\n');

const questionsOf = (transcript: Transcript): string[] =>
  transcript.flatMap((event) => (event.kind === 'user' ? [event.question.message] : []));

function outcomeOf({ transcript, result, error }: Conversation): Outcome {
  if (error !== undefined || result?.isError) return 'error';
  const last = transcript.findLast((event) => event.kind === 'user');
  if (!last) return 'default';
  return last.reply !== 'silence' && last.reply.action !== 'accept' ? 'cancelled' : 'elicited';
}

function stateBytesOf(transcript: Transcript): number[] {
  return wireOf(transcript, 'server').flatMap(({ result }) => {
    const { resultType, requestState } = (result ?? {}) as { resultType?: string; requestState?: string };
    return resultType === 'input_required' ? [requestState?.length ?? 0] : [];
  });
}

/** Whether the user was shown the same questions, and the call came to the same result. */
export function sameEnd(one: Conversation, other: Conversation): Survival {
  const end = ({ result, error, transcript }: Conversation) => [
    textOf(result),
    error,
    questionsOf(transcript),
  ];
  return isDeepStrictEqual(end(one), end(other)) ? 'finishes' : 'refused';
}

/** Which cell, for people. */
export const where = (cell: Observation): string =>
  `option ${cell.option} · ${cell.client} · ${cell.hosting} · ${cell.legacy} · ${cell.tool} · ${cell.script}`;
