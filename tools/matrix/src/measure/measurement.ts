/** What was measured of one option in one scenario, as plain data. */
import { isDeepStrictEqual } from 'node:util';
import { RESOLVE_WORK_ITEM, type ToolName } from '@mrtr/comparison';
import {
  type Client,
  callSubject,
  type HostingKind,
  type Subject,
  type SubjectCall,
  type UserScript,
} from '@mrtr/comparison/calls';
import type { RequestStateOptions } from '@mrtr/core';
import type { LocalHostingKind } from '@mrtr/harness';
import { eventsOf, resultText, type Transcript, tally } from '@mrtr/harness/transcript';
import { type Forged, forge } from './forge.ts';
import { type RetriedTwice, retryTwice, type SingleUse } from './retried-twice.ts';

export interface Scenario {
  readonly client: Exclude<Client, 'modern-only'>;
  readonly hosting: Exclude<HostingKind, 'restart'>;
  readonly legacy: NonNullable<RequestStateOptions['legacy']>;
  readonly script: UserScript;
}

/** The end of a call: after an answer, after a default instead of it, with an error, or after a refusal. */
export type MeasuredEnd = 'elicited' | 'default' | 'error' | 'cancelled';

/** Whether the same call ends in the same way on other hosting. */
export type Survival = 'finishes' | 'rejected';

export interface Measurement extends Omit<Scenario, 'script'> {
  readonly option: string;
  readonly tool: ToolName;
  readonly script: string;
  readonly outcome: MeasuredEnd;
  readonly result: string;
  readonly questions: readonly string[];
  readonly rounds: number;
  readonly entries: number;
  readonly audits: number;
  readonly writes: number;
  /** Length of `requestState` in each `input_required` result, 0 without one. */
  readonly stateBytes: readonly number[];
  /** The maximum of frames in memory while the user was thinking. */
  readonly framesHeld: number;
  /** The end when each round reaches another instance, on `fleet`. */
  readonly otherInstance: Survival;
  /** The end when the instance restarts between any two requests. */
  readonly restart: Survival;
  /** The result when each retry is delivered twice, if measured. */
  readonly retriedTwice?: Readonly<Record<SingleUse, RetriedTwice>>;
  /** The result of forged answers and state, if measured. */
  readonly forged?: Forged | undefined;
}

export interface MeasuredCall {
  readonly measurement: Measurement;
  readonly conversation: Transcript;
}

export interface LocalScenario extends Scenario {
  readonly hosting: Exclude<LocalHostingKind, 'restart'>;
}

/** Measures `subject` in `scenario`: the call itself, on a fleet, with restarts, with doubled retries, and forged. */
export async function measureScenario(subject: Subject, scenario: LocalScenario): Promise<MeasuredCall> {
  const { client, hosting, script } = scenario;
  const on = (kind: LocalHostingKind) => rehearse(subject, { ...scenario, hosting: kind });
  const [memory, fleet, restart] = await Promise.all([on('memory'), on('fleet'), on('restart')]);
  const survival = { otherInstance: sameEnd(memory, fleet), restart: sameEnd(memory, restart) };
  const here = hosting === 'memory' ? memory : fleet;
  const { measurement, conversation } = summarize(subject, scenario, here, survival);
  // Double the retries of a call that writes an item, since the write must not happen twice.
  const writes = script.tool === RESOLVE_WORK_ITEM && ['fixed', 'duplicate'].includes(script.name);
  if (!writes || client !== 'modern' || hosting !== 'memory') return { measurement, conversation };
  const [byDefault, off] = await Promise.all([
    retryTwice(requestOf(subject, scenario), 'by default'),
    retryTwice(requestOf(subject, scenario), 'off'),
  ]);
  // Forge in the call of two questions, whose second round brings state.
  const forged = script.name === 'duplicate' && { forged: await forge(subject) };
  const retriedTwice = { 'by default': byDefault, off };
  return { conversation, measurement: { ...measurement, retriedTwice, ...forged } };
}

export function summarize(
  subject: Subject,
  scenario: Scenario,
  conversation: Transcript,
  survival: Pick<Measurement, 'otherInstance' | 'restart'>,
): MeasuredCall {
  const { script, ...served } = scenario;
  const { rounds, entries, effects, stateBytes, framesHeld } = tally(conversation);
  return {
    conversation,
    measurement: {
      option: subject.id,
      ...served,
      tool: script.tool,
      script: script.name,
      outcome: outcomeOf(conversation),
      result: textOf(conversation.end),
      questions: questionsOf(conversation),
      rounds,
      entries,
      audits: effects.audit ?? 0,
      writes: effects.write ?? 0,
      stateBytes,
      framesHeld,
      ...survival,
    },
  };
}

// A conversation with one of our scripts always runs alike, so the three cells that need it share it.
const rehearsed = new WeakMap<Subject, Map<string, Promise<Transcript>>>();

/** The conversation of `subject` in a scenario of this process. */
export function rehearse(
  subject: Subject,
  scenario: Omit<Scenario, 'hosting'> & { readonly hosting: LocalHostingKind },
) {
  const { client, hosting, legacy, script } = scenario;
  const known = rehearsed.get(subject) ?? new Map<string, Promise<Transcript>>();
  rehearsed.set(subject, known);
  const key = [client, hosting, legacy, script.tool, script.name].join();
  const conversation = known.get(key) ?? callSubject(requestOf(subject, scenario));
  known.set(key, conversation);
  return conversation;
}

export function requestOf(
  subject: Subject,
  { script, ...scenario }: Omit<Scenario, 'hosting'> & { readonly hosting: HostingKind },
): SubjectCall {
  return { subject, ...scenario, call: script.call, user: script.user() };
}

const textOf = ({ result, error }: Transcript['end']) => error?.message ?? resultText(result ?? {});

const questionsOf = ({ events }: Transcript) => eventsOf('question', events).map(({ message }) => message);

function outcomeOf({ events, end }: Transcript): MeasuredEnd {
  if (end.error || end.result.isError) return 'error';
  const last = eventsOf('answer', events).at(-1);
  if (!last) return 'default';
  return last.reply !== 'silence' && last.reply.action !== 'accept' ? 'cancelled' : 'elicited';
}

/** `finishes` if the user was shown the same questions, and the result was the same. */
function sameEnd(one: Transcript, other: Transcript): Survival {
  const end = (of: Transcript) => [textOf(of.end), questionsOf(of)];
  return isDeepStrictEqual(end(one), end(other)) ? 'finishes' : 'rejected';
}
