/** Checks transcripts against the schema that the harness publishes. */
import type { Transcript } from '@mrtr/harness/transcript';
import schema from '@mrtr/harness/transcript.schema.json' with { type: 'json' };
import { Ajv2020 } from 'ajv/dist/2020.js';

const validate = new Ajv2020({ strict: true, strictTypes: false }).compile(schema);

/** The violations of each transcript, after it was serialised and parsed. */
export const schemaMistakes = (transcripts: readonly Transcript[]): unknown[] =>
  transcripts.flatMap((transcript) =>
    validate(JSON.parse(JSON.stringify(transcript))) ? [] : [{ ...transcript, mistakes: validate.errors }],
  );
