/** Measures options in real processes. */
import type { Option } from '@mrtr/contract';
import type { Conversation, ProcessHostingKind } from '../conversation.ts';
import { isHeld } from '../conversation.ts';
import { converse } from '../converse.ts';
import type { Cell } from '../invariants.ts';
import { observed, rehearse, requestOf, type Scenario, sameEnd } from '../observe.ts';
import { SCRIPTS } from '../scripts.ts';
import type { Processes } from './deployment.ts';
import { killWhileAsked, type Survivor } from './kill.ts';

/** A scenario, on whichever of the hostings. */
type Play = Omit<Scenario, 'hosting'>;

/** A cell that was measured in processes, with the same call in this process: on `memory`, or on `fleet`. */
export interface ProcessCell extends Cell {
  readonly counterpart: Conversation;
}

/** One call through a kill, with what was claimed of it. */
export interface KillCell {
  readonly option: Option;
  readonly play: Play;
  readonly survivor: Survivor;
}

/** Everything that was measured. */
export interface ProcessMeasurements {
  readonly cells: readonly ProcessCell[];
  readonly kills: readonly KillCell[];
}

const isTabled = ({ script }: Play) => script.name === 'metric' || script.name === 'duplicate';

/** What is played on `http` and on `processes`, and through a kill: everything that makes a difference there. */
export const PROCESS_PLAYS: readonly Play[] = (['modern', 'mute', 'legacy'] as const)
  .flatMap((client) =>
    (['shim', 'degrade'] as const).flatMap((legacy) => SCRIPTS.map((script) => ({ client, legacy, script }))),
  )
  .filter((play) => isTabled(play) || (play.client !== 'mute' && play.legacy === 'shim'))
  .filter(({ client, legacy }) => client === 'legacy' || legacy === 'shim');

/** What is played on `stdio`, where each call takes a process of its own: two dependent questions, to each client. */
export const STDIO_PLAYS: readonly Play[] = PROCESS_PLAYS.filter(
  ({ client, legacy, script }) => client !== 'mute' && legacy === 'shim' && script.name === 'duplicate',
);

/**
 * Measures `options` on all three hostings. The processes are killed in the end, so they are good for one
 * measurement; the caller closes what is left of them.
 */
export async function measureProcesses(
  options: readonly Option[],
  processes: Processes,
  plays: readonly Play[] = PROCESS_PLAYS,
): Promise<ProcessMeasurements> {
  const seen = new Map<string, Conversation>();
  const key = (option: Option, { client, legacy, script }: Play, hosting: ProcessHostingKind) =>
    [option.id, client, legacy, script.tool, script.name, hosting].join();
  const all = options.flatMap((option) => plays.map((play) => ({ option, play })));
  const jobsOn = (hosting: ProcessHostingKind, which = all) => which.map((job) => ({ ...job, hosting }));
  const play = async ({ option, play, hosting }: (ReturnType<typeof jobsOn>)[number]) => {
    const request = requestOf(option, { ...play, hosting });
    seen.set(key(option, play, hosting), await converse(request, processes.deploy));
  };
  const onStdio = jobsOn('stdio', all.filter(({ play }) => STDIO_PLAYS.includes(play)));
  const onHttp = [...jobsOn('http'), ...jobsOn('processes')];
  await Promise.all([inParallel(2, onStdio, play), inParallel(8, onHttp, play)]);

  const requests = all.map(({ option, play }) =>
    // Where an old client is asked, it is asked over a connection; a new one's rounds may go anywhere.
    requestOf(option, { ...play, hosting: play.client === 'legacy' ? 'http' : 'processes' }),
  );
  const survivors = await killWhileAsked(processes, requests);
  const kills = all.map((job, at) => ({ ...job, survivor: survivors[at] as Survivor }));

  const cells = kills.flatMap(({ option, play, survivor }) =>
    (['stdio', 'http', 'processes'] as const).map(async (hosting): Promise<ProcessCell | undefined> => {
      const find = (on: ProcessHostingKind) => seen.get(key(option, play, on)) as Conversation;
      const conversation = find(hosting);
      if (!conversation) return undefined;
      const undisturbed = hosting === 'stdio' ? conversation : find('http');
      const scenario = { ...play, hosting };
      const survival = {
        otherInstance: sameEnd(undisturbed, find('processes')),
        restart: sameEnd(undisturbed, survivor.conversation),
      };
      return {
        claims: option.claims,
        scenario,
        observed: observed(option, scenario, conversation, survival),
        counterpart: await rehearse(option, { ...play, hosting: isHeld(hosting) ? 'memory' : 'fleet' }),
      };
    }),
  );
  return { cells: (await Promise.all(cells)).filter((cell) => cell !== undefined), kills };
}

/** Does `work` on each item, on at most `limit` at once. */
async function inParallel<T>(limit: number, items: readonly T[], work: (item: T) => Promise<void>) {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
