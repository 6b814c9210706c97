/** Reads the server that somebody names on a command line. */
import type { Endpoint } from './endpoint.ts';

/**
 * The endpoint of `--server`: an address, or a command that starts the server. `headers` are lines, for an address.
 *
 * @throws Error that says what to give instead
 */
export function endpointFrom(
  server: string,
  env: Readonly<Record<string, string | undefined>>,
  headers: readonly string[] = [],
): Exclude<Endpoint, { kind: 'memory' }> {
  if (/^https?:/i.test(server)) {
    if (!URL.canParse(server)) throw new Error(`--server: '${server}' is no address.`);
    return { kind: 'http', url: new URL(server), headers: headersIn(headers) };
  }
  if (headers.length > 0) throw new Error('--header goes with an address: a command is called without HTTP.');
  // Split like a shell, so that a quoted path may have spaces.
  const words = [...server.matchAll(/(?:"[^"]*"|'[^']*'|\S)+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
  const start = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [command, ...args] = start < 0 ? [] : words.slice(start);
  if (command === undefined) throw new Error('--server takes an address or a command.');
  const assigned = words.slice(0, start).map((word) => /^(\w+)=(.*)$/s.exec(word)?.slice(1) ?? []);
  const all = [...Object.entries(env), ...assigned].filter(([, value]) => value !== undefined);
  return { kind: 'stdio', command, args, env: Object.fromEntries(all) };
}

function headersIn(lines: readonly string[]) {
  const headers = new Headers();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):(.*)$/.exec(line) ?? [];
    try {
      headers.append(name, value);
    } catch {
      // Do not repeat the text: it may be a token.
      throw new Error("--header takes a line such as 'Authorization: Bearer TOKEN'.");
    }
  }
  return Object.fromEntries(headers);
}
