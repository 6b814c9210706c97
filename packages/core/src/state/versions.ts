/** Versions of the author's state: the version that a policy seals, and the versions that it accepts. */
import { InvalidOption } from '../errors.ts';

/** The options of a policy that concern versions. */
export interface VersionOptions {
  /**
   * The version of the code that keeps state: `'2'` for the whole server, or `{ deploy: '2' }` for single targets. Text
   * of 1 to 255 bytes. Each token carries it, and state of another version is rejected before a handler sees it. Change
   * it when a deploy cannot continue the calls in flight. Default: tokens carry no version. An unset environment
   * variable is an `InvalidOption`.
   */
  readonly version?: string | Readonly<Record<string, string>> | undefined;
  /**
   * Other versions whose state is accepted: `['1']`. `null` accepts state that was sealed without a version. An unset
   * environment variable is an `InvalidOption`.
   */
  readonly acceptVersions?: readonly (string | null | undefined)[] | undefined;
}

/** Checked {@link VersionOptions}. */
export interface StateVersions {
  /** The version that the state of `target` is sealed with. */
  of(target: string): string | undefined;
  /** Whether state of `target` that was sealed with `version` is accepted. */
  accepts(target: string, version: string | undefined): boolean;
}

/** A token stores the length in one byte. */
const MAX_VERSION_BYTES = 0xff;

/** @throws InvalidOption for a version that a token cannot carry. */
export function stateVersions({ version, acceptVersions = [] }: VersionOptions): StateVersions {
  const own = typeof version === 'object' ? new Map(Object.entries(version)) : version;
  if (typeof own === 'object') for (const [target, name] of own) check(`version.${target}`, name);
  else if (own !== undefined) check('version', own);
  for (const [at, name] of acceptVersions.entries()) if (name !== null) check(`acceptVersions[${at}]`, name);
  const accepted = new Set(acceptVersions.map((name) => name ?? undefined));
  const of = (target: string) => (typeof own === 'object' ? own.get(target) : own);
  return { of, accepts: (target, name) => name === of(target) || accepted.has(name) };
}

function check(option: string, name: string | undefined) {
  if (typeof name === 'string' && name.isWellFormed() && name !== '') {
    if (Buffer.byteLength(name) <= MAX_VERSION_BYTES) return;
  }
  const given = typeof name === 'string' ? 'not that' : `${name}`;
  throw new InvalidOption(`${option} must be text of 1 to ${MAX_VERSION_BYTES} bytes; it is ${given}.`);
}
