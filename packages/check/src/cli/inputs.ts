/** Turns options into the inputs of a run. */
import { isDeepStrictEqual } from 'node:util';
import { readJson } from '../report/baseline.ts';
import {
  type Address,
  type CompleteInputs,
  DEFAULTS,
  nameOf,
  nextOf,
  type Operation,
  PORT,
  type ProbeSpec,
  transportOf,
  UsageError,
} from '../target/target.ts';
import { isObject, parse } from '../wire/json.ts';
import { type CommandLine, parseTarget } from './options.ts';

export function inputsFrom(options: CommandLine): CompleteInputs {
  const { probe, ttl, only, vary } = options;
  const { generateAnswers, oneTime, needsConsent, allowEffects } = { ...DEFAULTS, ...options };
  if (options.quick && options.complete)
    throw new UsageError('--quick skips checks that --complete requires: remove one of them.');
  return {
    ...serverFrom(options),
    ...operationsFrom(options),
    ...{ generateAnswers, oneTime, needsConsent, allowEffects },
    answers: answersFrom(options),
    ...{ ttlSeconds: ttl, only, quick: options.quick },
    probe: probe === undefined ? undefined : probeFrom(probe, options),
    vary: vary === undefined ? undefined : varyFrom(vary),
  };
}

/** The address of the server, and the limits on waiting for it. */
export function serverFrom(options: CommandLine) {
  const { seed = DEFAULTS.seed, timeout = DEFAULTS.timeoutSeconds, maxTime } = options;
  return { address: addressFrom(options), seed, timeoutSeconds: timeout, mostSeconds: maxTime };
}

/** The operations of the run. A second one has to differ, or checks would report correct behaviour. */
function operationsFrom(options: CommandLine) {
  const operation = operationFrom(options);
  const { otherArguments: args, otherOperation: other } = options;
  const otherArguments = args === undefined ? undefined : object(args, '--other-arguments');
  const otherOperation = other === undefined ? undefined : operationIn(other, '--other-operation');
  if (isDeepStrictEqual(otherArguments, operation.arguments))
    throw new UsageError('--other-arguments are the same as --arguments: give a second valid set.');
  if (otherOperation && nameOf(otherOperation) === nameOf(operation))
    throw new UsageError('--other-operation is the operation itself: name another one that asks.');
  return { operation, otherArguments, otherOperation };
}

function operationFrom(options: CommandLine) {
  const kinds = (['tool', 'prompt', 'resource'] as const).filter((kind) => options[kind] !== undefined);
  const [kind] = kinds;
  if (!kind) throw new UsageError('Name the operation: --tool NAME, --prompt NAME or --resource URI.');
  if (kinds.length > 1)
    throw new UsageError(`Name one thing to call, and not ${kinds.map((one) => `--${one}`).join(' and ')}.`);
  const args = options.arguments === undefined ? {} : object(options.arguments, '--arguments');
  return { kind, name: options[kind] ?? '', arguments: args };
}

function object(value: unknown, name: string) {
  if (!isObject(value)) throw new UsageError(`${name} has to be a JSON object, such as '{"env":"staging"}'.`);
  return value;
}

/** Parses `tool:NAME`, or with arguments `tool:NAME {"a":1}`. */
function operationIn(text: string, name: string) {
  const [, kind, target = '', json] = /^(tool|prompt|resource):(\S+)(?:\s+(.+))?$/s.exec(text) ?? [];
  if (!kind)
    throw new UsageError(`${name} has to be tool:NAME, prompt:NAME or resource:URI, and JSON for arguments.`);
  return {
    kind: kind as Operation['kind'],
    name: target,
    arguments: json === undefined ? {} : object(parse(json), `The text after ${kind}:${target} in ${name}`),
  };
}

function probeFrom(text: string, options: CommandLine): ProbeSpec {
  const isOutside = /^(?:url|cmd):/.test(text);
  if (isOutside && text.includes(PORT) && !isStartedAtPort(options.command))
    throw new UsageError(
      'The {port} in --probe is that of a server which the checker starts, and its command has no {port}: write the port itself.',
    );
  if (text.startsWith('url:')) return { kind: 'url', url: checkedUrl(text.slice(4), '--probe', true) };
  if (text.startsWith('cmd:')) return { kind: 'cmd', command: text.slice(4) };
  if (!/^(?:tool|resource|prompt):/.test(text))
    throw new UsageError('--probe has to begin with tool:, url: or cmd:.');
  return { kind: 'operation', operation: operationIn(text, '--probe') };
}

/** Reads one name, or lists: `NAME=[…]`, or a file with a list for each argument. A configuration file may hold the lists. */
function varyFrom(texts: readonly string[]) {
  const lists = texts.map((text) => {
    const at = text.indexOf('=');
    const value = parse(text.slice(at + 1));
    if (at > 0 && Array.isArray(value)) return { [text.slice(0, at)]: value };
    if (isObject(value)) return value;
    return text.endsWith('.json') ? readJson(text) : undefined;
  });
  const [name] = texts;
  if (texts.length === 1 && !lists[0]) return name;
  if (lists.includes(undefined))
    throw new UsageError('--vary takes one NAME alone, or lists: --vary \'invoice=["a","b"]\'.');
  return object(Object.assign({}, ...lists), '--vary');
}

/** Reads the answers. Those of the command line override those of the file. */
function answersFrom({ answer = [], answers }: CommandLine): Readonly<Record<string, unknown>> {
  // A configuration file may hold the object itself.
  const fromFile = answers === undefined ? {} : (parse(answers) ?? readJson(answers));
  const given = answer.map((text) => {
    const at = text.indexOf('=');
    const value = parse(text.slice(at + 1));
    if (at < 1 || value === undefined)
      throw new UsageError(
        `--answer has to be KEY=JSON, and '${text}' is not. Text is quoted twice: --answer 'city="Tokyo"'.`,
      );
    return [text.slice(0, at), value];
  });
  return { ...object(fromFile, 'The file of --answers'), ...Object.fromEntries(given) };
}

const isStartedAtPort = (command: CommandLine['command']) =>
  command !== undefined && transportOf({ command }) === 'http';

/** The address: a URL, a command, or both if the command serves HTTP at a given port. */
function addressFrom({ url, command, ...options }: CommandLine) {
  if (url === undefined && command === undefined)
    throw new UsageError('Say where the server is: an address, or -- and the command that starts it.');
  const started = isStartedAtPort(command);
  if (url !== undefined && command !== undefined && !started)
    throw new UsageError(
      'An address beside a command needs {port} in the command, because each instance has its own port.',
    );
  const { also, restart, next, header = [], otherHeader } = options;
  if (command !== undefined && (also !== undefined || restart !== undefined))
    throw new UsageError(
      '--also and --restart are for a server that the checker does not start: remove them.',
    );
  const address: Address = {
    headers: headersFrom(header, '--header'),
    ...(url !== undefined && { url: checkedUrl(url, 'The address', started) }),
    ...{ command, restart, next, also: also === undefined ? undefined : checkedUrl(also, '--also') },
    otherHeaders: otherHeader && headersFrom(otherHeader, '--other-header'),
  };
  rejectDuplicates(address);
  nextOf(address);
  return address;
}

/** Rejects a second instance or principal that equals the first: checks would prove nothing, or report correct behaviour. */
function rejectDuplicates({ url, also, headers, otherHeaders }: Address) {
  if (url !== undefined && also !== undefined && new URL(url).href === new URL(also).href)
    throw new UsageError('--also is the address of the server itself: give that of a second instance.');
  if (otherHeaders && isDeepStrictEqual({ ...headers, ...otherHeaders }, headers))
    throw new UsageError('--other-header is the same principal as --header: give those of another one.');
}

function checkedUrl(text: string, name: string, hasPort = false) {
  if (!URL.canParse(hasPort ? text.replaceAll(PORT, '1') : text) || !/^https?:/.test(text))
    throw new UsageError(`${name} has to be an http or https address, and '${text}' is not.`);
  return text;
}

/** Parses headers. Their values are secrets, so no message contains them. */
function headersFrom(lines: readonly string[], name: string) {
  return Object.fromEntries(
    lines.map((line) => {
      const [, key, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/s.exec(line) ?? [];
      if (key === undefined || value === undefined || /[\r\n\0]/.test(value))
        throw new UsageError(`${name} has to be 'Name: value'.`);
      return [key.toLowerCase(), value];
    }),
  );
}

/** Reads the targets. Replaces `${NAME}` in headers from the environment. @throws UsageError that names the mistake */
export function readConfig(file: string) {
  const { targets } = readJson(file);
  if (!Array.isArray(targets) || targets.length === 0)
    throw new UsageError(`${file} has no "targets": a list with at least one.`);
  return targets.map((target, at) => targetFrom(target, `${file}, target ${at + 1}`, at));
}

/** Turns each member into command-line words, so that both are validated alike. */
function targetFrom(target: unknown, where: string, at: number) {
  if (!isObject(target)) throw new UsageError(`${where} has to be an object.`);
  const { name = `target ${at + 1}`, url, command, ...rest } = target;
  const areTexts = Array.isArray(command) && command.every((word) => typeof word === 'string');
  if (command !== undefined && !areTexts)
    throw new UsageError(`${where}: 'command' has to be a list of strings.`);
  const options = Object.entries(rest).flatMap(([key, value]) =>
    [value].flat().flatMap((one) => {
      if (typeof one === 'boolean') return one ? [`--${key}`] : [];
      const text = typeof one === 'string' ? one : JSON.stringify(one);
      return [`--${key}=${key.endsWith('header') ? fillIn(text, where) : text}`];
    }),
  );
  try {
    const words = [...options, ...(url === undefined ? [] : [String(url)])];
    return { ...parseTarget([...words, ...(areTexts ? ['--', ...command] : [])]), name: String(name) };
  } catch (error) {
    throw new UsageError(`${where}: ${(error as Error).message}`);
  }
}

function fillIn(line: string, where: string) {
  return line.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = process.env[name];
    if (value === undefined)
      throw new UsageError(`${where}: the environment has no ${name}, which a header needs.`);
    return value;
  });
}
