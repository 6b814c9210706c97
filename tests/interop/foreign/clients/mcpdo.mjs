// The Inspector's `mcpdo`, in a given era. A separate command answers a question.
import { CALL, command, drive } from './driver.mjs';

const MCPDO = '@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js';

drive(async (target, answer, era) => {
  const exports = await command(MCPDO, ['private']);
  const env = Object.fromEntries(
    [...exports.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
  );
  const mcpdo = (...args) => command(MCPDO, ['--plain', '--connection', 'ours', ...args], env);
  const server = target.url ? [target.url] : ['--', target.command, ...target.args];
  const connected = await mcpdo('connect', '--era', era, ...server);
  try {
    const args = Object.entries(CALL.arguments).map(([name, value]) => `${name}:=${value}`);
    const called = await mcpdo('tools/call', CALL.name, ...args);
    const [, id] = /elicitation\/respond (elicitation-[\w-]+)/.exec(called) ?? [];
    if (!id) return `${connected}${called}`;
    const { content } = await answer();
    const fields = Object.entries(content).map(([name, value]) => `${name}:=${value}`);
    return await mcpdo('elicitation/respond', id, ...fields);
  } finally {
    await mcpdo('disconnect');
    await command(MCPDO, ['daemon', 'stop'], env);
  }
});
