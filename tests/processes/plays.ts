/** What is played in processes. A call costs more there than in memory, so each play shows something of its own. */
import type { LegacyPolicy } from '@mrtr/core';
import type { Scenario } from '../matrix/observe.ts';
import { SCRIPTS, type Script } from '../matrix/scripts.ts';
import type { ProcessHostingKind } from '../matrix/subject.ts';

/** A scenario, on whichever of the hostings. */
export type Play = Omit<Scenario, 'hosting'>;

/** Whether the two are one. */
export const sameCall = (one: Play, other: Play): boolean =>
  one.client === other.client && one.legacy === other.legacy && one.script === other.script;

const play = (client: Play['client'], legacy: LegacyPolicy, scripts: readonly Script[]): Play[] =>
  scripts.map((script) => ({ client, legacy, script }));

const named = (...names: readonly string[]) => SCRIPTS.filter(({ name }) => names.includes(name));

/** What is played where. What is played on `processes` is also played through a kill. */
export type Plays = { readonly [Hosting in ProcessHostingKind]: readonly Play[] };

/** What is played on `processes`, and through a kill: one question and two, and more rounds than instances. */
const FLEET_PLAYS: readonly Play[] = [
  ...play('modern', 'shim', named('metric', 'duplicate')),
  ...play(
    'modern',
    'shim',
    named('nonsense').filter(({ questions }) => questions > 3),
  ),
  ...play('mute', 'shim', named('metric')),
  ...play('legacy', 'shim', named('metric', 'duplicate')),
  ...play('legacy', 'degrade', named('metric')),
];

/** What is played on `http`: also every other script, to both clients. */
const HTTP_PLAYS: readonly Play[] = [
  ...FLEET_PLAYS,
  ...(['modern', 'legacy'] as const).flatMap((client) =>
    play(client, 'shim', SCRIPTS).filter((more) => !FLEET_PLAYS.some((known) => sameCall(more, known))),
  ),
];

/** What is played on `stdio`, where each call takes a process of its own: two dependent questions, to both clients. */
const STDIO_PLAYS: readonly Play[] = FLEET_PLAYS.filter(
  ({ client, legacy, script }) => client !== 'mute' && legacy === 'shim' && script.name === 'duplicate',
);

/** What shows something of its own; over stdio to old clients only, since each call takes a process. */
export const BRIEF_PLAYS: Plays = {
  stdio: STDIO_PLAYS.filter(({ client }) => client === 'legacy'),
  http: FLEET_PLAYS,
  processes: FLEET_PLAYS,
};

/** Everything that is played in processes. */
export const PROCESS_PLAYS: Plays = { stdio: STDIO_PLAYS, http: HTTP_PLAYS, processes: FLEET_PLAYS };
