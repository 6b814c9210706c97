/** Our two clients, at a foreign target. */
import { converse, type Endpoint, foreignHosting, type LogicalCall, scriptedUser } from '@mrtr/harness';
import { within } from '@mrtr/harness/internal';
import { resultText, tally } from '@mrtr/harness/transcript';
import type { Report } from './measurement.ts';
import type { Target } from './target.ts';

export type OurClient = 'modern' | 'legacy';

const PATIENCE_MS = 60_000;

const call: LogicalCall = {
  method: 'tools/call',
  params: { name: 'get_weather', arguments: { location: 'Tokyo' } },
};

/** Calls the tool for a user who answers "imperial". If the call fails, the report has an error. */
export async function callWithOurs(client: OurClient, target: Target): Promise<Report> {
  const user = scriptedUser({ units: ['imperial'] });
  const endpoint: Endpoint =
    'url' in target ? { kind: 'http', url: new URL(target.url) } : { kind: 'stdio', ...target };
  try {
    const conversation = converse({ client, call, user }, () => foreignHosting(endpoint));
    const transcript = await within(PATIENCE_MS, conversation, () => `No answer in ${PATIENCE_MS / 1000} s.`);
    const { result, error } = transcript.end;
    const asked = tally(transcript).questions > 0;
    if (error) return { asked, error: error.message };
    return { asked, got: `${result.isError ? 'isError: ' : ''}${resultText(result)}` };
  } catch (error) {
    return { asked: false, error: (error as Error).message };
  }
}
