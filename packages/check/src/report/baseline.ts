/** Accepted findings, each with its reason. */
import { readFileSync } from 'node:fs';
import { CHECKS } from '../checks/all.ts';
import { UsageError } from '../target/target.ts';
import { isObject, type JsonObject } from '../wire/json.ts';

/** The reason for accepting a finding, optionally with a last day (UTC) and the ticket that mends it. */
export type Acceptance =
  | string
  | { readonly reason: string; readonly expires?: string; readonly ticket?: string };

/** The acceptance of each finding, by the check's id. */
export type Baseline = Readonly<Record<string, Acceptance>>;

export function acceptanceText(one: Acceptance) {
  if (typeof one === 'string') return one;
  const { reason, expires, ticket } = one;
  const more = [...(ticket ? [ticket] : []), ...(expires ? [`until ${expires}`] : [])];
  return more.length === 0 ? reason : `${reason} (${more.join(', ')})`;
}

export const isExpired = (one: Acceptance) =>
  typeof one !== 'string' && one.expires !== undefined && one.expires < new Date().toISOString().slice(0, 10);

const FIELDS = ['reason', 'expires', 'ticket'];

/** Reads `{ "accepted": { "state.size": "why" } }`. @throws UsageError */
export function readBaseline(file: string): Baseline {
  const { accepted } = readJson(file);
  if (!isObject(accepted)) throw new UsageError(`${file} has no "accepted": { "<id>": "<reason>" }.`);
  for (const [id, reason] of Object.entries(accepted)) {
    if (!CHECKS.some((check) => check.id === id))
      throw new UsageError(`${file} accepts '${id}', which is not a check.`);
    const why = whyUnfit(isObject(reason) ? reason : { reason });
    if (why) throw new UsageError(`${file} accepts '${id}' ${why}`);
  }
  return accepted as Baseline;
}

function whyUnfit(entry: JsonObject) {
  const { reason, expires, ticket = '' } = entry;
  if (typeof reason !== 'string' || reason.trim() === '') return 'without a reason: give one as its value.';
  const other = Object.keys(entry).find((name) => !FIELDS.includes(name));
  if (other !== undefined) return `with '${other}'. It has to be one of ${FIELDS.join(', ')}.`;
  if (typeof ticket !== 'string') return 'with a ticket that is not text.';
  const isDay = typeof expires === 'string' && new Date(expires).toJSON()?.slice(0, 10) === expires;
  return expires === undefined || isDay ? undefined : 'with a wrong date: write expires as "2027-01-31".';
}

export function readJson(file: string) {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new UsageError(`${file} does not contain a JSON object.`);
  return value;
}
