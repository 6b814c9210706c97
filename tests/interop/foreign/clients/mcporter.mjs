// mcporter's command line. It cannot answer questions.
import { CALL, command, drive } from './driver.mjs';

drive((target) => {
  const server = target.url
    ? ['--http-url', target.url, '--allow-http']
    : ['--stdio', target.command, ...target.args.flatMap((arg) => ['--stdio-arg', arg])];
  const args = ['call', ...server, '--tool', CALL.name, '--args', JSON.stringify(CALL.arguments)];
  return command('mcporter/dist/cli.js', [...args, '--output', 'text']);
});
