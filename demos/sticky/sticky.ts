/** `pnpm demo sticky`: HAProxy routes retries back to their parked calls, and cannot without its routing rule. */
import wrapAnsi from 'wrap-ansi';
import { type Called, call } from './caller.ts';
import { type Fleet, INSTANCES, startFleet } from './fleet.ts';
import { haproxyVersion, NOT_INSTALLED, readConfiguration, startRouter, withoutRule } from './haproxy.ts';

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Makes calls with the rule and without it. Returns the exit code: 0 only if all ended as expected. */
export async function sticky({ out, err }: Output): Promise<number> {
  const version = haproxyVersion();
  if (version === undefined) {
    err(NOT_INSTALLED);
    return 1;
  }
  out(` sticky · three processes of option H behind HAProxy ${version}\n`);
  const configuration = await readConfiguration();
  // Without a listener, a signal ends a program before its `exit` listeners run.
  const leave = () => process.exit(1);
  for (const signal of SIGNALS) process.once(signal, leave);
  const fleet = await startFleet();
  try {
    out('\n with the routing rule (demos/sticky/haproxy.cfg)\n');
    const routed = await calls(configuration, fleet, INSTANCES.length, out);
    out(`\n   The token that the client echoed: ${abridge(routed.at(-1))}\n`);
    out('\n without it (the same file, that one line taken out)\n');
    const unrouted = await calls(withoutRule(configuration), fleet, 1, out);
    const asItShould = spread(routed) && routed.every(hasStayed) && unrouted.every(wasRefused);
    if (!asItShould) err('\nThis is not how it should have ended.\n');
    return asItShould ? 0 : 1;
  } finally {
    await fleet.close();
    for (const signal of SIGNALS) process.off(signal, leave);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function calls(
  configuration: string,
  fleet: Fleet,
  count: number,
  out: Output['out'],
): Promise<readonly Called[]> {
  const router = await startRouter(configuration, fleet);
  try {
    const all: Called[] = [];
    while (all.length < count) {
      const called = await call(router.url);
      all.push(called);
      out(describeCall(all.length, called));
    }
    return all;
  } finally {
    await router.close();
  }
}

function describeCall(number: number, { servedBy, text, failed }: Called): string {
  const rounds = servedBy.map((name, at) => `round ${at + 1} → ${name}`).join('   ');
  return `   call ${number}   ${rounds}\n            ${wrap(failed ? `✗ ${text}` : text)}\n`;
}

const wrap = (text: string): string => wrapAnsi(text, 66).replaceAll('\n', '\n            ');

const abridge = (called: Called | undefined): string =>
  called?.states[0]?.replace(/^(v1\..{10})[^~]+/, '$1…') ?? 'none';

const spread = (all: readonly Called[]): boolean =>
  new Set(all.map(({ servedBy }) => servedBy[0])).size === INSTANCES.length;

const hasStayed = ({ servedBy, failed }: Called): boolean =>
  !failed && servedBy.length === 3 && new Set(servedBy).size === 1;

const wasRefused = ({ servedBy, failed }: Called): boolean => failed && new Set(servedBy).size === 2;
