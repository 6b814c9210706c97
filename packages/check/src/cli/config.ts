/** The configuration file: several targets, with the options of the command line. */
import { readJson } from '../report/baseline.ts';
import { UsageError } from '../target/target.ts';
import { isObject } from '../wire/json.ts';
import { parseTarget } from './options.ts';

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
