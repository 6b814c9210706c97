/** Values that an earlier round recorded, perhaps by another version of the code. */
import type { StandardSchemaV1 } from '@modelcontextprotocol/server';
import type { OptionChecks } from '@mrtr/core/kit';
import { type Call, requireFitting } from '@mrtr/core/shape';

/** How a value is taken over from an earlier round. */
export interface Recorded<T> {
  /**
   * Checks a value that an earlier round recorded: a deploy may have come between, and another version returned
   * something else. A value that does not fit refuses the request, and nothing more of it runs. Its output is the value,
   * so a default or a transform can bring an older value up to date. Without a schema the value is taken as it is.
   */
  readonly schema?: StandardSchemaV1<unknown, T> | undefined;
}

export const RECORDED_CHECKS: OptionChecks<Recorded<unknown>> = {
  schema: {
    allowed: 'a Standard Schema',
    // ArkType's schemas are functions.
    isAllowed: (value) =>
      ((typeof value === 'object' && value !== null) || typeof value === 'function') && '~standard' in value,
  },
};

/** The value as this version of the code takes it. */
export const takeRecorded = <T>(
  call: Pick<Call, 'rejectState'>,
  what: string,
  value: unknown,
  schema: Recorded<T>['schema'],
): T => (schema ? requireFitting(call, `the value of ${what}`, value, schema) : (value as T));
