// The SDK's v1 client, in one of its minor versions.
import { CALL, drive } from './driver.mjs';

drive(async (target, answer, version) => {
  const from = (path) => import(`sdk-${version}/${path}`);
  const { Client } = await from('client/index.js');
  const { StdioClientTransport } = await from('client/stdio.js');
  const { StreamableHTTPClientTransport } = await from('client/streamableHttp.js');
  const { ElicitRequestSchema } = await from('types.js');
  const client = new Client({ name: 'interop', version }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, answer);
  await client.connect(
    target.url
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport({ ...target, stderr: 'ignore' }),
  );
  return client.callTool(CALL);
});
