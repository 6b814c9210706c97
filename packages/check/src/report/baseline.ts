/** Accepted findings: known, explained, and still there. */
import { readFileSync } from 'node:fs';
import { CHECKS } from '../checks/all.ts';
import { UsageError } from '../target/target.ts';
import { isObject, parse } from '../wire/json.ts';

/** The reason for each accepted finding, by the check's id. */
export type Baseline = Readonly<Record<string, string>>;

/** Reads `{ "accepted": { "state.size": "why" } }`. @throws UsageError */
export function readBaseline(file: string): Baseline {
  const { accepted } = readJson(file) as { accepted?: unknown };
  if (!isObject(accepted)) throw new UsageError(`${file} has no "accepted": { "<id>": "<reason>" }.`);
  for (const [id, reason] of Object.entries(accepted)) {
    if (!CHECKS.some((check) => check.id === id))
      throw new UsageError(`${file} accepts '${id}', which is no check.`);
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new UsageError(`${file} accepts '${id}' without a reason: give one as its value.`);
  }
  return accepted as Baseline;
}

export function readJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  const value = parse(text);
  if (!isObject(value)) throw new UsageError(`${file} holds no JSON object${whyNoJson(text)}.`);
  return value;
}

function whyNoJson(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return `: ${(error as Error).message}`;
  }
}
