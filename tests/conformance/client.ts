/**
 * The client of the suite's client scenario, on the SDK's v2 client: `node --import tsx client.ts URL`. The SDK makes
 * the rounds; this program registers the answers, and calls the scenario's tools.
 */
import { Client, SdkError, SdkErrorCode, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error('The address of a server is missing.');

const client = new Client(
  { name: 'conformance', version: '1.0.0' },
  { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } } },
);
client.setRequestHandler('elicitation/create', async () => {
  // Call it between the rounds of another call, whose answers and state must not be sent with this one.
  await client.callTool({ name: 'test_mrtr_unrelated', arguments: {} });
  return { action: 'accept', content: { confirmed: true } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
await client.callTool({ name: 'test_mrtr_echo_state', arguments: {} });
await client.callTool({ name: 'test_mrtr_no_state', arguments: {} });
try {
  await client.callTool({ name: 'test_mrtr_no_result_type', arguments: {} });
} catch (error) {
  // The suite checks that nothing is retried. The SDK rejects this result: at 2026-07-28 a server must send
  // `resultType`. Only for older servers does the SDK assume "complete".
  if (!(error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)) throw error;
}
await client.close();
