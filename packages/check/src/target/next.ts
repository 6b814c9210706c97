/** The new version of a server, which a deploy runs beside the old one. */
import { type Address, PORT, transportOf, UsageError } from './target.ts';

/** The address of the new version. A shell runs its command, which may change the folder. @throws UsageError if its transport differs */
export function nextOf(address: Address): Address | undefined {
  const { next, command, url, headers, otherHeaders } = address;
  if (next === undefined) return undefined;
  const principals = { headers, otherHeaders };
  const elsewhere = isAddress(next);
  if (elsewhere && !URL.canParse(next)) throw new UsageError(`--next is not an address: '${next}'.`);
  const overHttp = elsewhere || next.includes(PORT);
  if (overHttp !== (transportOf(address) === 'http')) throw new UsageError(mismatch(address));
  if (elsewhere) return { ...principals, url: next };
  // The path is the same as that of the old version.
  const path = command !== undefined && url !== undefined ? { url } : {};
  return { ...principals, ...path, command: inShell(next) };
}

const isAddress = (next: string) => /^https?:/i.test(next);

/** Whether the checker starts a server. Such a server is gone when somebody reads the report. */
export const isStarted = ({ command, next }: Address) =>
  command !== undefined || (next !== undefined && !isAddress(next));

const inShell = (command: string) =>
  process.platform === 'win32'
    ? [process.env.ComSpec ?? 'cmd.exe', '/d', '/s', '/c', command]
    : ['/bin/sh', '-c', command];

function mismatch(address: Address) {
  if (transportOf(address) === 'stdio')
    return (
      'The command of the server has no {port}, so it is reached over stdio, and --next over HTTP. Write {port} in ' +
      'both commands, or in neither.'
    );
  const otherwise = address.command === undefined ? ', or give the address at which it listens' : '';
  return (
    'The server is reached over HTTP, and --next has no {port}. Write {port} where the command of the new version ' +
    `takes its port${otherwise}: --next 'node server.mjs --port {port}'.`
  );
}
