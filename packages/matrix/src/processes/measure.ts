/** Measures options in real processes. */

import type { Transcript } from '@mrtr/harness/transcript';
import { converse } from '../measure/converse.ts';
import type { Cell } from '../measure/invariants.ts';
import { rehearse, requestOf, type Scenario, type Survival, sameEnd, summarize } from '../measure/observe.ts';
import {
  type ConversationRequest,
  isHeld,
  type Measured,
  type ProcessHostingKind,
} from '../measure/subject.ts';
import type { Processes } from './deployment.ts';
import { killWhileAsked, type Survivor } from './kill.ts';
import { type Play, type Plays, PROCESS_PLAYS, sameCall } from './plays.ts';

/** A cell that was measured in processes, with the same call in this process: on `memory`, or on `fleet`. */
export interface ProcessCell extends Cell {
  readonly counterpart: Transcript;
}

export interface KillCell {
  readonly option: Measured;
  readonly play: Play;
  readonly survivor: Survivor;
}

export interface ProcessMeasurements {
  readonly cells: readonly ProcessCell[];
  readonly kills: readonly KillCell[];
}

/** The last step kills processes, so they serve for one measurement. The caller closes the others. */
export async function measureProcesses(
  options: readonly Measured[],
  processes: Processes,
  plays: Plays = PROCESS_PLAYS,
): Promise<ProcessMeasurements> {
  const calls = options.flatMap((option) =>
    (['stdio', 'http', 'processes'] as const).flatMap((hosting) =>
      plays[hosting].map((play) => new Call(option, play, hosting)),
    ),
  );
  const make = async (call: Call) => {
    call.conversation = await converse(call.request, processes.deploy);
  };
  const [onStdio, onHttp] = [
    calls.filter(({ scenario }) => scenario.hosting === 'stdio'),
    calls.filter(({ scenario }) => scenario.hosting !== 'stdio'),
  ];
  await Promise.all([inParallel(2, onStdio, make), inParallel(6, onHttp, make)]);

  // An old client is asked over its connection; the rounds of a new one may go anywhere.
  const killed = options.flatMap((option) =>
    plays.processes.map((play) => new Call(option, play, play.client === 'legacy' ? 'http' : 'processes')),
  );
  const survivors = await killWhileAsked(
    processes,
    killed.map(({ request }) => request),
  );
  const kills = killed.map((call, at) => ({ ...call, survivor: survivors[at] as Survivor }));

  const cells = calls.map(async (call): Promise<ProcessCell> => {
    const { option, play, scenario, conversation } = call;
    const find = (hosting: ProcessHostingKind) =>
      calls.find((other) => other.isLike(call) && other.scenario.hosting === hosting)?.conversation;
    const undisturbed = scenario.hosting === 'stdio' ? conversation : find('http');
    const kill = kills.find((other) => call.isLike(other));
    const survival = {
      otherInstance: compareEnds(undisturbed, find('processes')),
      restart: compareEnds(undisturbed, kill?.survivor.conversation),
    };
    const local = isHeld(scenario.hosting) ? 'memory' : 'fleet';
    return {
      claims: option.claims,
      scenario,
      observed: summarize(option, scenario, conversation, survival),
      counterpart: await rehearse(option, { ...play, hosting: local }),
    };
  });
  return { cells: await Promise.all(cells), kills };
}

class Call {
  readonly option: Measured;
  readonly play: Play;
  readonly scenario: Scenario & { readonly hosting: ProcessHostingKind };
  conversation!: Transcript;

  constructor(option: Measured, play: Play, hosting: ProcessHostingKind) {
    this.option = option;
    this.play = play;
    this.scenario = { ...play, hosting };
  }

  get request(): ConversationRequest {
    return requestOf(this.option, this.scenario);
  }

  isLike({ option, play }: Pick<Call, 'option' | 'play'>): boolean {
    return this.option === option && sameCall(this.play, play);
  }
}

const compareEnds = (one: Transcript | undefined, other: Transcript | undefined): Survival =>
  one && other ? sameEnd(one, other) : 'not measured';

async function inParallel<T>(limit: number, items: readonly T[], work: (item: T) => Promise<void>) {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
