/** Values that an earlier round recorded, perhaps by another version of the code. */
import type { StandardSchemaV1 } from '@modelcontextprotocol/server';
import { InvalidDefinition } from '@mrtr/core';
import type { OptionChecks } from '@mrtr/core/internal';
import { type Call, requireFitting } from '@mrtr/core/shape';
import { assertJson, copyJson } from './json.ts';

/** The option that checks a recorded value. */
export interface RecordedOptions<T> {
  /**
   * Checks a value that an earlier round recorded: after a deploy it may be another version's. If the value does not fit,
   * the request is rejected, and no more of the handler runs. The schema's output is the value, so a default or a
   * transform can update an older value. Without a schema the value is not checked.
   */
  readonly schema?: StandardSchemaV1<unknown, T> | undefined;
}

/** Runs an effect once in a call, and returns its value. */
export type Once = <T>(key: string, effect: () => T | Promise<T>, options?: RecordedOptions<T>) => Promise<T>;

/** @internal */
export const RECORDED_CHECKS: OptionChecks<RecordedOptions<unknown>> = {
  schema: {
    allowed: 'a Standard Schema',
    // ArkType's schemas are functions.
    isAllowed: (value) =>
      ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value,
  },
};

/** The error for a repeated key. Without it, the second step would silently not run. */
export const duplicateKeyError = (key: string, what: 'effect' | 'step' = 'effect'): InvalidDefinition =>
  new InvalidDefinition(`Two ${what}s of one call have the key '${key}'. They are kept by key: rename one.`);

/** A recorded value: a list of one, or an empty list for undefined, which JSON does not have. */
export type Recorded = readonly unknown[];

/**
 * Records a copy of `value`: the author's changes to the value are made again in each round.
 *
 * @throws NotJson for a value that a later round would see changed.
 */
export function recordValue(what: string, value: unknown): Recorded {
  assertJson(value, what);
  return value === undefined ? [] : [copyJson(value)];
}

/** Returns a copy of a recorded value, checked with the schema, if there is one. */
export function readRecorded<T>(
  call: Pick<Call, 'rejectState'>,
  what: string,
  [recorded]: Recorded,
  schema: RecordedOptions<T>['schema'],
): T {
  const value = copyJson(recorded);
  return schema ? requireFitting(call, `the value of ${what}`, value, schema) : (value as T);
}
