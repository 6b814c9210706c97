// The Inspector's `mcp-inspector --cli`, in a given era. It cannot answer questions.
import { CALL, command, drive } from './driver.mjs';

drive((target, _answer, era) => {
  const server = target.url ? [target.url, '--transport', 'http'] : [target.command, ...target.args];
  const args = Object.entries(CALL.arguments).map(([name, value]) => `${name}=${value}`);
  const call = ['--method', 'tools/call', '--tool-name', CALL.name, '--tool-arg', ...args];
  const inspector = '@modelcontextprotocol/inspector/clients/launcher/build/index.js';
  return command(inspector, ['--cli', ...server, '--protocol-era', era, ...call]);
});
