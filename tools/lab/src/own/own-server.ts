/** A server of anybody's that the lab was opened with, and its tools. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { legacyClient, modernClient } from '@mrtr/harness';
import { endpointFrom, type Fetch, within } from '@mrtr/harness/internal';
import type { Own, OwnTool } from '../protocol.ts';
import type { OwnCall } from '../set-up.ts';
import type { Probe } from './probe.ts';

export interface OwnOptions {
  /** An address, or the command that starts it. */
  readonly server: string;
  readonly tool?: string | undefined;
  readonly arguments?: OwnCall['arguments'] | undefined;
  readonly headers?: readonly string[] | undefined;
  /** The author's file. Default: the first file that the command names. */
  readonly source?: string | undefined;
  /** Reads a value that shows its effects. */
  readonly probe?: Probe | undefined;
  /** The folder in which the command runs. */
  readonly folder: string;
}

/** A larger file is not shown. */
const MAX_SOURCE = 300_000;
const MAX_TOOLS = 200;
const PATIENCE_MS = 30_000;

const NO_NODE =
  'Lines cannot be shown here: no Node.js process of this command has loaded a file of its project.';

const CODE = /\.[cm]?[jt]sx?$/;

export class OwnServer {
  readonly options: OwnOptions;
  readonly endpoint: ReturnType<typeof endpointFrom>;
  /** The folder of the author's project. */
  readonly root: string;
  /** The absolute path of the author's file that is shown. */
  source: string | undefined;
  /** That path, if the user gave or chose it. Otherwise every file of the project is traced, to find the tool's. */
  given: string | undefined;
  tools: readonly OwnTool[] = [];
  /** The lines that ran before a call: when a file was loaded, a client connected or tools were listed. */
  readonly before = new Set<string>();
  /** The author's files that its processes loaded. */
  readonly loaded = new Set<string>();

  /** @throws Error that says what to give instead */
  constructor(options: OwnOptions) {
    this.options = options;
    this.endpoint = endpointFrom(options.server, process.env, options.headers);
    this.source = this.#findSource();
    this.given = options.source === undefined ? undefined : this.source;
    this.root = projectOf(this.source === undefined ? options.folder : dirname(this.source));
  }

  /** The path of the author's file in the project. */
  get sourceName() {
    return this.source === undefined ? '' : relative(this.root, this.source);
  }

  /** What the page shows of it. */
  get state(): Own {
    const { source, tools, loaded, options } = this;
    const isShown = source !== undefined && statSync(source).size <= MAX_SOURCE;
    return {
      server: options.server,
      tools,
      source: isShown ? { file: this.sourceName, text: readFileSync(source, 'utf8') } : undefined,
      loaded: [...loaded],
      noLines: this.#noLines,
    };
  }

  get #noLines() {
    if (this.endpoint.kind === 'http')
      return 'Lines cannot be shown here: this server runs at an address. With the command that starts it, they can.';
    if (this.source === undefined) return 'The file of the tool is shown after its first call.';
    return this.tools.length > 0 && this.loaded.size === 0 ? NO_NODE : undefined;
  }

  /** Marks a tool as one that asks. */
  hasAsked(name: string) {
    this.tools = this.tools.map((one) => (one.name === name ? { ...one, asks: true } : one));
  }

  /** Shows the file of the project that the user chose, by its path there. Returns whether it is another one. */
  choose(name: string | undefined) {
    if (name === undefined || name === this.sourceName) return false;
    this.source = resolve(this.root, name);
    this.given = this.source;
    return true;
  }

  /** Shows the file in which a handler was found. */
  find(name: string) {
    this.source = resolve(this.root, name);
  }

  #findSource() {
    const { source, folder } = this.options;
    if (source !== undefined) {
      const path = resolve(folder, source);
      if (!existsSync(path)) throw new Error(`--source: there is no file '${source}'.`);
      return realpathSync(path);
    }
    if (this.endpoint.kind !== 'stdio') return undefined;
    const isOwn = (path: string) => CODE.test(path) && existsSync(path) && !path.includes('node_modules');
    const found = this.endpoint.args.map((word) => resolve(folder, word)).find(isOwn);
    return found === undefined ? undefined : realpathSync(found);
  }
}

/** The nearest folder with a package.json, at `start` or above it. */
function projectOf(start: string) {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

/** Some servers list a tool that asks only to a client that can be asked. */
const ASKABLE = { user: () => ({ action: 'cancel' }) as const };

/** The tools that a server lists, to a client of the era that it will serve: a process on stdio serves one. */
export async function listTools(fetch: Fetch, isOld: boolean): Promise<readonly OwnTool[]> {
  const transport = new StreamableHTTPClientTransport(new URL('http://server.invalid/mcp'), { fetch });
  const list = async () => {
    const client = isOld
      ? await legacyClient(transport as never, ASKABLE)
      : await modernClient(transport, ASKABLE, { fallback: true });
    try {
      const { tools } = await client.listTools();
      return tools.slice(0, MAX_TOOLS).map(({ name, title, description, inputSchema }) => ({
        name,
        title: title ?? name,
        description: description ?? '',
        schema: inputSchema,
      }));
    } finally {
      await client.close();
    }
  };
  return within(PATIENCE_MS, list(), () => `The server did not list its tools in ${PATIENCE_MS / 1000} s.`);
}
