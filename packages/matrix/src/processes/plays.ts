/** The scenarios in processes. A call costs more there than in memory, so each scenario shows something new. */
import type { LegacyPolicy } from '@mrtr/core';
import type { Scenario } from '../measure/observe.ts';
import { SCRIPTS, type Script } from '../measure/scripts.ts';
import type { ProcessHostingKind } from '../measure/subject.ts';

export type Play = Omit<Scenario, 'hosting'>;

export const sameCall = (one: Play, other: Play): boolean =>
  one.client === other.client && one.legacy === other.legacy && one.script === other.script;

const play = (client: Play['client'], legacy: LegacyPolicy, scripts: readonly Script[]): Play[] =>
  scripts.map((script) => ({ client, legacy, script }));

const scriptsNamed = (...names: readonly string[]) => SCRIPTS.filter(({ name }) => names.includes(name));

/** The scenarios by hosting. Those on `processes` are also run through a kill. */
export type Plays = { readonly [Hosting in ProcessHostingKind]: readonly Play[] };

/** The scenarios on `processes`, also run through a kill: one question, two, and more rounds than instances. */
const FLEET_PLAYS: readonly Play[] = [
  ...play('modern', 'shim', scriptsNamed('metric', 'duplicate')),
  ...play(
    'modern',
    'shim',
    scriptsNamed('nonsense').filter(({ questions }) => questions > 3),
  ),
  ...play('mute', 'shim', scriptsNamed('metric')),
  ...play('legacy', 'shim', scriptsNamed('metric', 'duplicate')),
  ...play('legacy', 'degrade', scriptsNamed('metric')),
];

/** The scenarios on `http`: every other script too, with both clients. */
const HTTP_PLAYS: readonly Play[] = [
  ...FLEET_PLAYS,
  ...(['modern', 'legacy'] as const).flatMap((client) =>
    play(client, 'shim', SCRIPTS).filter((more) => !FLEET_PLAYS.some((known) => sameCall(more, known))),
  ),
];

/** The scenarios on `stdio`, where each call takes its own process: two dependent questions, with both clients. */
const STDIO_PLAYS: readonly Play[] = FLEET_PLAYS.filter(
  ({ client, legacy, script }) => client !== 'mute' && legacy === 'shim' && script.name === 'duplicate',
);

/** The scenarios that show something new; over stdio only with old clients, since each call takes a process. */
export const BRIEF_PLAYS: Plays = {
  stdio: STDIO_PLAYS.filter(({ client }) => client === 'legacy'),
  http: FLEET_PLAYS,
  processes: FLEET_PLAYS,
};

export const PROCESS_PLAYS: Plays = { stdio: STDIO_PLAYS, http: HTTP_PLAYS, processes: FLEET_PLAYS };
