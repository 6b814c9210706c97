/** Several targets in a file. The names are those of the command line. */
import { readJson } from '../report/baseline.ts';
import { UsageError } from '../target/target.ts';
import { isObject, type JsonObject } from '../wire/json.ts';
import { type Kind, TARGET_OPTIONS, type TargetOptions } from './options.ts';

export interface ConfiguredTarget {
  readonly name: string;
  readonly url?: string;
  readonly command?: readonly string[];
  readonly options: TargetOptions;
}

const NAMES: Readonly<Record<string, Kind>> = {
  ...{ name: 'text', url: 'text', command: 'texts' },
  ...Object.fromEntries(TARGET_OPTIONS.map(([flags, kind]) => [/[a-z-]+/.exec(flags.slice(2))?.[0], kind])),
};

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number' && value >= 0;
const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

const FITS: Readonly<Record<Kind, readonly [words: string, fits: (value: unknown) => boolean]>> = {
  text: ['a string', isText],
  texts: ['a list of strings', areTexts],
  ids: ['a list of strings', areTexts],
  yes: ['true or false', (value) => typeof value === 'boolean'],
  number: ['a number', isNumber],
  seconds: ['a number', isNumber],
  object: ['an object', isObject],
  any: ['a file name or an object', () => true],
  formats: ['left out', () => false],
};

/** `${NAME}` in a header is replaced from the environment. @throws UsageError with the name that is wrong */
export function readConfig(file: string): readonly ConfiguredTarget[] {
  const { targets } = readJson(file) as { targets?: unknown };
  if (!Array.isArray(targets) || targets.length === 0)
    throw new UsageError(`${file} has no "targets": a list with at least one.`);
  return targets.map((target, at) => targetFrom(target, `${file}, target ${at + 1}`, at));
}

function targetFrom(target: unknown, where: string, at: number): ConfiguredTarget {
  if (!isObject(target)) throw new UsageError(`${where} has to be an object.`);
  for (const [key, value] of Object.entries(target)) {
    const kind = NAMES[key];
    if (kind === undefined)
      throw new UsageError(`${where}: there is no '${key}'. There is: ${Object.keys(NAMES).join(', ')}.`);
    const [words, fits] = FITS[kind];
    if (!fits(value)) throw new UsageError(`${where}: '${key}' has to be ${words}.`);
  }
  const { name, url, command, ...rest } = target;
  return {
    name: typeof name === 'string' ? name : `target ${at + 1}`,
    ...(url !== undefined && { url: url as string }),
    ...(command !== undefined && { command: command as readonly string[] }),
    options: optionsFrom(rest, where),
  };
}

const HEADERS = ['header', 'other-header'];

function optionsFrom(rest: JsonObject, where: string): TargetOptions {
  const named = Object.entries(rest).map(([key, value]) => {
    const filled = HEADERS.includes(key) ? (value as string[]).map((line) => fillIn(line, where)) : value;
    return [key.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()), filled];
  });
  return Object.fromEntries(named) as TargetOptions;
}

function fillIn(line: string, where: string): string {
  return line.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = process.env[name];
    if (value === undefined)
      throw new UsageError(`${where}: the environment has no ${name}, which a header needs.`);
    return value;
  });
}
