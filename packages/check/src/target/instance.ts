/** The instances of the server under check, started by the checker or reached at an address. */
import { exec } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ServerProcess } from '@mrtr/harness/internal';
import { freePort } from '@mrtr/harness/process';
import type { Channel, Patience } from '../wire/channel.ts';
import { httpChannel, post } from '../wire/http.ts';
import type { ServerReply } from '../wire/reply.ts';
import { mirroringHeaders, OLD_REVISION, type WireRequest } from '../wire/request.ts';
import { stdioChannel } from '../wire/stdio.ts';
import type { OldChannel } from './old-channel.ts';
import { type Address, headersOf, nextOf, PORT, type Principal, transportOf, UsageError } from './target.ts';

const START_MS = 30_000;
/** The wait for the children of a wrapper to end after it. */
const END_MS = 5000;
/** The same wait at the end of the run. */
const LAST_END_MS = 500;
const ENDING_MS = 250;

/** One instance. If the checker started it, it can restart it at the same port. */
export class Instance {
  readonly id: string;
  readonly #address: Address;
  readonly #patience: Patience;
  readonly words: string;
  url: URL | undefined;
  #process: ServerProcess | undefined;
  #stdio: Channel | undefined;
  #port: number | undefined;
  readonly #old = new Map<Principal, OldChannel>();
  /** Whether the server speaks 2025-11-25 alone, so that it is called over sessions. */
  isOld = false;

  constructor(id: string, address: Address, patience: Patience, words = 'The server') {
    this.id = id;
    this.#address = address;
    this.#patience = patience;
    this.words = words;
    if (address.command === undefined && address.url !== undefined) this.url = new URL(address.url);
  }

  get kind() {
    return transportOf(this.#address);
  }

  get owned() {
    return this.#address.command !== undefined;
  }

  get alive() {
    return !this.owned || (this.#process?.alive ?? false);
  }

  /** Whether a started instance ended by itself. Waits a little, because connections break before the process ends. */
  async ending() {
    if (this.owned && this.alive) await Promise.race([this.#process?.ended, pause(ENDING_MS)]);
    return !this.alive && !this.#process?.isOverlong;
  }

  get tail() {
    return this.#process?.tail ?? '';
  }

  get command() {
    return (this.#address.command ?? []).map((word) => word.replaceAll(PORT, String(this.#port)));
  }

  /** Starts it, and waits until it listens. @throws Error with its output, if it ends or is not ready in 30 s */
  async start() {
    if (!this.owned) return;
    // A check that the end of the run interrupted may still call this.
    if (this.#patience.over.aborted) throw new UsageError(`${this.words} was not started: the run is over.`);
    if (this.kind === 'http') this.#port ??= await freePort();
    const [program = '', ...args] = this.command;
    this.#process = new ServerProcess(program, args);
    if (this.kind === 'stdio') this.#stdio = stdioChannel(this.#process, this.#patience);
    else await this.#listening(this.#process, this.#port as number);
  }

  channel(principal: Principal = 'own') {
    const old = this.#old.get(principal);
    if (old) return old;
    if (this.#stdio !== undefined) return this.#stdio;
    if (this.url === undefined) throw new Error(`${this.id} was not started`);
    return httpChannel(this.url, headersOf(this.#address, principal), this.#patience);
  }

  /** Opens the transport of a session of the earlier revision. Over stdio it starts a process of its own. */
  async openSession(principal: Principal = 'own') {
    // Load the old SDK only here: it takes as long as everything else together.
    const { sessionOfNewProcess, sessionOver } = await import('./old-transport.ts');
    return this.kind === 'stdio'
      ? sessionOfNewProcess(this.command)
      : sessionOver(this.url as URL, headersOf(this.#address, principal));
  }

  /** A channel of the earlier revision, with a session for each call. */
  async oldChannel() {
    const { OldChannel } = await import('./old-channel.ts');
    return new OldChannel(() => this.openSession(), this.#patience, false);
  }

  /** From now on, calls it over sessions of the earlier revision. */
  async speakOld() {
    this.isOld = true;
    const { OldChannel } = await import('./old-channel.ts');
    const { ProcessTransport } = await import('./old-transport.ts');
    // The process has seen requests of another revision.
    if (this.kind === 'stdio' && this.owned) {
      await this.kill();
      await this.start();
    }
    for (const principal of ['own', 'other'] as const) {
      const connect = async (isShared: boolean) =>
        isShared ? new ProcessTransport(this.#process as ServerProcess) : this.openSession(principal);
      this.#old.set(principal, new OldChannel(connect, this.#patience, this.kind === 'stdio'));
    }
  }

  /** Sends a request as a client of the earlier revision. Over HTTP it has no session. */
  async sendAsOld(request: Pick<WireRequest, 'method' | 'params'>): Promise<ServerReply> {
    if (this.#stdio !== undefined) return this.#stdio.send(request);
    const { 'content-type': type = '', accept = '' } = mirroringHeaders(request);
    const own = { 'content-type': type, accept, 'mcp-protocol-version': OLD_REVISION };
    const headers = { ...own, ...this.#address.headers };
    const message = { jsonrpc: '2.0', id: 1, ...request };
    return post({ url: this.url as URL, headers, message, patience: this.#patience });
  }

  /** Sends SIGKILL to everything that the command started. @throws UsageError if something still listens at its port */
  async kill(endMs = END_MS) {
    for (const channel of this.#old.values()) await channel.close();
    await this.#process?.kill();
    const isFree = async () => this.#port === undefined || !(await answers(this.#port));
    if (await becomes(isFree, endMs)) return;
    throw new UsageError(
      `${this.words} was killed, and something still listens at port ${this.#port}. Give a command that does not put its server in the background.`,
    );
  }

  /** Waits until the server listens again: most restart commands end earlier. @throws UsageError after 30 s */
  async listensAgain() {
    if (this.url === undefined) return;
    const { host, hostname, port, protocol } = this.url;
    const at = Number(port) || (protocol === 'https:' ? 443 : 80);
    if (await becomes(() => answers(at, hostname.replace(/^\[|\]$/g, '')), START_MS)) return;
    throw new UsageError(`${this.words} did not listen at ${host} in ${START_MS / 1000} s after --restart.`);
  }

  async #listening(process: ServerProcess, port: number) {
    const started = performance.now();
    let listens = false;
    const isDecided = async () => {
      listens = await answers(port);
      return listens || !process.alive || this.#patience.over.aborted;
    };
    await becomes(isDecided, START_MS);
    if (!listens) {
      const seconds = Math.round((performance.now() - started) / 1000);
      const what = process.alive
        ? `did not listen at port ${port} in ${seconds} s`
        : `ended (${await process.ended}) before it listened at port ${port}`;
      await process.kill();
      throw new UsageError(`${this.words} ${what}. It wrote:\n${process.tail || 'nothing'}`);
    }
    this.url = new URL(this.#address.url?.replaceAll(PORT, String(port)) ?? `http://localhost:${port}/mcp`);
  }
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

export class TestedInstances {
  readonly first: Instance;
  readonly #address: Address;
  readonly #patience: Patience;
  #second: Instance | undefined;
  #next: Instance | undefined;
  #nextServes = false;

  constructor(address: Address, patience: Patience) {
    this.#address = address;
    this.#patience = patience;
    this.first = new Instance('server', address, patience);
  }

  get instances() {
    const others = [this.#second, this.#nextServes ? this.#next : undefined];
    return [this.first, ...others.filter((one) => one !== undefined)];
  }

  async second() {
    if (this.#second === undefined) {
      const { also, ...address } = this.#address;
      const place = also === undefined ? address : { ...address, command: undefined, url: also };
      const second = new Instance('server-2', place, this.#patience);
      await second.start();
      this.#second = second;
    }
    return this.#second;
  }

  /** Starts the new version before any call, to report a wrong command early. @throws UsageError */
  async startNext() {
    const address = nextOf(this.#address);
    if (address === undefined) return undefined;
    this.#next = new Instance('new-version', address, this.#patience, 'The new version (--next)');
    await this.#next.start();
    return this.#next;
  }

  /** The new version. From now on a probe reads it too. */
  async next() {
    if (this.#next === undefined) throw new Error('the new version was not started');
    if (!this.#next.alive) await this.#next.start();
    this.#nextServes = true;
    return this.#next;
  }

  async restart() {
    const { restart } = this.#address;
    if (this.first.owned) {
      await this.first.kill();
      await this.first.start();
    } else if (restart !== undefined) {
      await promisify(exec)(restart, { timeout: START_MS }).catch(({ message }: Error) => {
        throw new UsageError(`--restart failed: ${message}`);
      });
      await this.first.listensAgain();
    }
  }

  async revive() {
    for (const instance of this.instances) if (!instance.alive) await instance.start();
  }

  /** Kills every started instance. Ignores failures, so that they do not hide the result of the run. */
  async close() {
    const instances = [this.first, this.#second, this.#next];
    await Promise.allSettled(instances.map((instance) => instance?.kill(LAST_END_MS)));
  }
}
