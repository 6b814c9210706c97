/** The two versions of a deploy, and calls that cross between them. */

import { type CheckParts, defineCheck, type Finding, type Level, pass } from '../../judging/check.ts';
import type { CheckContext } from '../../judging/context.ts';
import { difference, type Reading } from '../../observations/effects.ts';
import { Facts } from '../../observations/facts.ts';
import { type Retry, type Session, type Turn, Undecided } from '../../session/session.ts';
import type { Instance } from '../../target/instance.ts';
import { NOT_NOW } from '../../wire/outcome.ts';

export interface Version {
  readonly name: 'old version' | 'new version';
  readonly instance: Instance;
  readonly facts: Facts;
  readonly unit: number | undefined;
}

/** A call begins on `from`; its answer goes to `to`. */
export interface Crossing {
  readonly from: Version;
  readonly to: Version;
}

/** Both directions, because both versions serve during a rolling deploy: from the old version to the new, and back. */
export type Crossings = readonly [forth: Crossing, back: Crossing];

/** Makes a check of a deploy. Honest calls on the new version are its controls. */
export const deployCheck = (id: string, level: Level, { needs = [], run, ...parts }: DeployParts) =>
  defineCheck(id, level, {
    ...parts,
    needs: ['next', ...needs],
    run: async (context) => {
      const crossings = await context.once('crossings', () => crossingsOf(context));
      const finding = await run(context, crossings);
      if (finding.verdict === 'fail') return finding;
      await context.fleet.revive();
      await honest(context, crossings[0].to);
      return finding;
    },
  });

interface DeployParts extends Omit<CheckParts, 'run'> {
  readonly run: (context: CheckContext, crossings: Crossings) => Promise<Finding>;
}

async function crossingsOf(context: CheckContext): Promise<Crossings> {
  const { effects, facts, fleet } = context;
  const old = { name: 'old version', instance: fleet.first, facts, unit: effects.unit } as const;
  const next = await learnNext(context, await fleet.next());
  return [
    { from: old, to: next },
    { from: next, to: old },
  ];
}

/** Learns the new version from two honest calls. Differences between the two do not count. */
async function learnNext(context: CheckContext, instance: Instance) {
  const version = { name: 'new version', instance, facts: new Facts() } as const;
  const before = await context.effects.read();
  await honest(context, version);
  const unit = difference(before, await context.effects.read());
  await honest(context, version);
  return { ...version, unit };
}

async function honest(
  context: CheckContext,
  { name, instance, facts }: Pick<Version, 'name' | 'instance' | 'facts'>,
) {
  const session = context.session({ instance });
  await session.finish();
  const reason = facts.learn(session, { mayAskNothing: true });
  if (!reason) return;
  const hint = session.last?.kind === 'asked' ? '. Give answers that both versions allow' : '';
  throw new Undecided(`an honest call on the ${name} failed: ${reason}${hint}`, session);
}

const questionsIn = (turns: readonly Turn[]) =>
  turns.flatMap(({ outcome }) => (outcome.kind === 'asked' ? Object.entries(outcome.requests) : []));

export type Crossed = Awaited<ReturnType<typeof cross>>;

export interface CrossOptions {
  readonly round: number;
  readonly changes?: (session: Session) => Retry;
  /** A call that has begun with other than honest answers. */
  readonly begun?: Session;
}

/** Begins a call on one version, and continues it on the other. @throws Undecided */
export async function cross(
  context: CheckContext,
  crossing: Crossing,
  { round, changes = () => ({}), begun }: CrossOptions,
) {
  const { effects } = context;
  const { from, to } = crossing;
  await context.fleet.revive();
  const before = await effects.read();
  const session = begun ?? (await context.untilRound(round, { instance: from.instance }));
  const answered = questionsIn(session.turns).map(([key]) => key);
  const earlier = session.turns.length;
  const crossingReading = await effects.read();
  session.instance = to.instance;
  const first = await session.retry(changes(session));
  const firstReading = await readInto(session, context, crossingReading);
  const end = await session.finish();
  const endReading = await readInto(session, context, firstReading);
  const turns = session.turns.slice(earlier);
  if (NOT_NOW.includes(turns.at(-1)?.reply.status ?? 0))
    throw new Undecided(`the ${to.name} was too busy to answer: ${end}`, session);
  const asked = new Set(questionsIn(turns).map(([key]) => key));
  // Before the call, at the crossing, after the first answer there, and at the end.
  const readings = { before, crossing: crossingReading, first: firstReading, end: endReading };
  const askedAgain = answered.filter((key) => asked.has(key));
  /** `question`: the number of the question at which the call crossed, from 1. */
  return { ...crossing, session, question: round + 1, answered, askedAgain, turns, first, end, readings };
}

/** Reads the probe, and records a change. If the process ended, its in-memory effects are gone, so none is recorded. */
async function readInto(session: Session, { effects, fleet }: CheckContext, before: Reading) {
  if (session.last?.kind === 'failed' && (await session.instance.ending())) {
    await fleet.revive();
    return before;
  }
  return (await effects.since(before, session)) ? effects.last : before;
}

/** Makes a call cross at the first question, and one at the last, in each direction. */
export async function crossEach(context: CheckContext, crossings: readonly Crossing[]) {
  const all: Crossed[] = [];
  for (const crossing of crossings) {
    const last = crossing.from.facts.rounds.length - 1;
    for (const round of last < 0 ? [] : new Set([0, last]))
      all.push(await cross(context, crossing, { round }));
  }
  return all;
}

export const crossingCalls = (rounds: number) => Math.min(rounds, 2) * (rounds + 1) + rounds + 1;

/** The place where a call crossed, worded to begin a sentence. */
export const whereOf = ({ question, from, to }: Crossed) =>
  `The ${from.name} asked question ${question}, and the ${to.name} got the answer`;

/** The finding that all crossings passed. */
export const passAll = (all: readonly Crossed[], words: string) =>
  pass(`${all.length} calls crossed: ${words}`, all.at(-1)?.session);
