/** The instances of the server under check, started by the checker or reached at an address. */
import { exec } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CONTENT_TYPES, ServerProcess } from '@mrtr/harness/internal';
import { freePort } from '@mrtr/harness/process';
import type { Channel, Patience } from '../wire/channel.ts';
import { httpChannel, post } from '../wire/http.ts';
import { OLD_REVISION, type WireRequest } from '../wire/request.ts';
import { stdioChannel } from '../wire/stdio.ts';
import type { OldChannel } from './old-channel.ts';
import { type Address, headersOf, nextOf, PORT, type Principal, transportOf, UsageError } from './target.ts';

const START_MS = 30_000;
/** The wait for the children of a wrapper to end after it. */
const END_MS = 5000;
/** The same wait at the end of the run. */
const LAST_END_MS = 500;
const ENDING_MS = 250;

export type Instance = ReturnType<typeof createInstance>;

/** One instance. If the checker started it, it can restart it at the same port. */
export function createInstance(id: string, address: Address, patience: Patience, words = 'The server') {
  const kind = transportOf(address);
  const owned = address.command !== undefined;
  const old = new Map<Principal, OldChannel>();
  let url = owned || address.url === undefined ? undefined : new URL(address.url);
  let process: ServerProcess | undefined;
  let stdio: Channel | undefined;
  let port: number | undefined;
  let isOld = false;

  const fillPort = (text: string) => text.replaceAll(PORT, String(port));
  const command = () => (address.command ?? []).map(fillPort);
  const isAlive = () => !owned || (process?.alive ?? false);

  /** Starts it, and waits until it listens. @throws Error with its output, if it ends or is not ready in 30 s */
  async function start() {
    if (!owned) return;
    // A check that the end of the run interrupted may still call this.
    if (patience.over.aborted) throw new UsageError(`${words} was not started: the run is over.`);
    if (kind === 'http') port ??= await freePort();
    const [program = '', ...args] = command();
    process = new ServerProcess(program, args);
    if (port === undefined) stdio = stdioChannel(process, patience);
    else await listening(process, port);
  }

  async function listening(server: ServerProcess, at: number) {
    const started = performance.now();
    let listens = false;
    const isDecided = async () => {
      listens = await answers(at);
      return listens || !server.alive || patience.over.aborted;
    };
    await becomes(isDecided, START_MS);
    if (!listens) {
      const seconds = Math.round((performance.now() - started) / 1000);
      const what = server.alive
        ? `did not listen at port ${at} in ${seconds} s`
        : `ended (${await server.ended}) before it listened at port ${at}`;
      await server.kill();
      throw new UsageError(`${words} ${what}. It wrote:\n${server.tail || 'nothing'}`);
    }
    url = new URL(fillPort(address.url ?? `http://localhost:${PORT}/mcp`));
  }

  /** Sends SIGKILL to everything that the command started. @throws UsageError if something still listens at its port */
  async function kill(endMs = END_MS) {
    for (const channel of old.values()) await channel.close();
    await process?.kill();
    const isFree = async () => port === undefined || !(await answers(port));
    if (await becomes(isFree, endMs)) return;
    throw new UsageError(
      `${words} was killed, and something still listens at port ${port}. Give a command that does not put its server in the background.`,
    );
  }

  /** Opens the transport of a session of the earlier revision. Over stdio it starts a process of its own. */
  async function openSession(principal: Principal = 'own') {
    // Load the old SDK only here: it takes as long as everything else together.
    const { sessionOfNewProcess, sessionOver } = await import('./old-transport.ts');
    return kind === 'stdio'
      ? sessionOfNewProcess(command())
      : sessionOver(url as URL, headersOf(address, principal));
  }

  return {
    id,
    kind,
    owned,
    words,
    start,
    kill,
    /** Replaces `{port}` by the port of a started HTTP server. */
    fillPort,
    get url() {
      return url;
    },
    get alive() {
      return isAlive();
    },
    /** Whether the server speaks 2025-11-25 alone, so that it is called over sessions. */
    get isOld() {
      return isOld;
    },
    get tail() {
      return process?.tail ?? '';
    },
    /** Whether a started instance ended by itself. Waits a little, because connections break before the process ends. */
    async ending() {
      if (owned && isAlive()) await Promise.race([process?.ended, pause(ENDING_MS)]);
      return !isAlive() && !process?.isOverlong;
    },
    channel(principal: Principal = 'own') {
      const known = old.get(principal) ?? stdio;
      if (known) return known;
      if (!url) throw new Error(`${id} was not started`);
      return httpChannel(url, headersOf(address, principal), patience);
    },
    /** A channel of the earlier revision, with a session for each call. */
    async oldChannel() {
      const { openOldChannel } = await import('./old-channel.ts');
      return openOldChannel(() => openSession(), patience, false);
    },
    /** From now on, calls it over sessions of the earlier revision. */
    async speakOld() {
      isOld = true;
      const { openOldChannel } = await import('./old-channel.ts');
      const { transportOver } = await import('./old-transport.ts');
      // The process has seen requests of another revision.
      if (kind === 'stdio' && owned) {
        await kill();
        await start();
      }
      for (const principal of ['own', 'other'] as const) {
        const connect = async (isShared: boolean) =>
          isShared ? transportOver(process as ServerProcess) : openSession(principal);
        old.set(principal, openOldChannel(connect, patience, kind === 'stdio'));
      }
    },
    /** Sends a request as a client of the earlier revision. Over HTTP it has no session. */
    async sendAsOld({ method, params }: WireRequest) {
      if (stdio) return stdio.send({ method, params });
      const own = { ...CONTENT_TYPES, 'mcp-protocol-version': OLD_REVISION };
      const message = { jsonrpc: '2.0', id: 1, method, params };
      return post({ url: url as URL, headers: { ...own, ...address.headers }, message, patience });
    },
    /** Waits until the server listens again: most restart commands end earlier. @throws UsageError after 30 s */
    async listensAgain() {
      if (!url) return;
      const { host, hostname, port: given, protocol } = url;
      const at = Number(given) || (protocol === 'https:' ? 443 : 80);
      if (await becomes(() => answers(at, hostname.replace(/^\[|\]$/g, '')), START_MS)) return;
      throw new UsageError(`${words} did not listen at ${host} in ${START_MS / 1000} s after --restart.`);
    },
  };
}

/** Polls until the condition holds or the time is over. Returns whether it holds. */
async function becomes(isSo: () => Promise<boolean>, mostMs: number) {
  const until = performance.now() + mostMs;
  while (!(await isSo())) {
    if (performance.now() > until) return false;
    await pause(20);
  }
  return true;
}

// `localhost` covers IPv4 and IPv6: a server may listen at either.
async function answers(port: number, host = 'localhost') {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export type TestedInstances = ReturnType<typeof createInstances>;

export function createInstances(address: Address, patience: Patience) {
  const first = createInstance('server', address, patience);
  let second: Instance | undefined;
  let next: Instance | undefined;
  let nextServes = false;
  const instances = () => [first, second, nextServes ? next : undefined].filter((one) => one !== undefined);
  return {
    first,
    get instances() {
      return instances();
    },
    async second() {
      if (!second) {
        const { also, ...own } = address;
        const place = also === undefined ? own : { ...own, command: undefined, url: also };
        const started = createInstance('server-2', place, patience);
        await started.start();
        second = started;
      }
      return second;
    },
    /** Starts the new version before any call, to report a wrong command early. @throws UsageError */
    async startNext() {
      const place = nextOf(address);
      if (!place) return undefined;
      next = createInstance('new-version', place, patience, 'The new version (--next)');
      await next.start();
      return next;
    },
    /** The new version. From now on a probe reads it too. */
    async next() {
      if (!next) throw new Error('the new version was not started');
      if (!next.alive) await next.start();
      nextServes = true;
      return next;
    },
    async restart() {
      const { restart } = address;
      if (first.owned) {
        await first.kill();
        await first.start();
      } else if (restart !== undefined) {
        await promisify(exec)(restart, { timeout: START_MS }).catch(({ message }: Error) => {
          throw new UsageError(`--restart failed: ${message}`);
        });
        await first.listensAgain();
      }
    },
    async revive() {
      for (const instance of instances()) if (!instance.alive) await instance.start();
    },
    /** Kills every started instance. Ignores failures, so that they do not hide the result of the run. */
    async close() {
      await Promise.allSettled([first, second, next].map((instance) => instance?.kill(LAST_END_MS)));
    },
  };
}
