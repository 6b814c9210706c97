// The SDK's v2 client, in one of its minor versions. It negotiates 2026-07-28 if the server has it.
import { CALL, drive } from './driver.mjs';

drive(async (target, answer, version) => {
  const { Client, StreamableHTTPClientTransport } = await import(`client-${version}`);
  const { StdioClientTransport } = await import(`client-${version}/stdio`);
  const options = { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: {} } };
  const client = new Client({ name: 'interop', version }, options);
  client.setRequestHandler('elicitation/create', answer);
  await client.connect(
    target.url
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport({ ...target, stderr: 'ignore' }),
  );
  return client.callTool(CALL);
});
