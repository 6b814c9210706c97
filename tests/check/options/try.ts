import { mkdtempSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { reportOf, run, terminalReport } from '@mrtr/check';
import { OPTIONS } from '@mrtr/options';
import { postgresServer } from '@mrtr/postgres-server';
import { PRINCIPALS } from './principals.ts';

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url));
const pg = await postgresServer();
const [alice, mallory] = PRINCIPALS.map(({ token }) => ({ authorization: `Bearer ${token}` }));
const want = process.argv.slice(2);
try {
  for (const { id } of OPTIONS.filter(({ id }) => want.length === 0 || want.includes(id))) {
    for (const tool of ['resolve_work_item', 'get_weather'] as const) {
      const world = mkdtempSync('/tmp/opt-');
      const postgres = await pg.database();
      const t = performance.now();
      const one = await run({
        address: {
          command: [
            process.execPath,
            '--import',
            'tsx',
            SERVER,
            '--option',
            id,
            '--world',
            world,
            '--postgres',
            postgres,
            '--port',
            '{port}',
          ],
          headers: alice as any,
          otherHeaders: mallory as any,
        },
        operation:
          tool === 'get_weather'
            ? { kind: 'tool', name: tool, arguments: { location: 'Tokyo' } }
            : { kind: 'tool', name: tool, arguments: { id: 4522, state: 'Resolved' } },
        otherArguments: tool === 'get_weather' ? { location: 'Paris' } : { id: 4301, state: 'Resolved' },
        otherOperation:
          tool === 'get_weather'
            ? { kind: 'tool', name: 'resolve_work_item', arguments: { id: 4522, state: 'Resolved' } }
            : { kind: 'tool', name: 'get_weather', arguments: { location: 'Tokyo' } },
        answers: {
          resolution: { resolution: 'Duplicate' },
          original: { original: 4301 },
          units: { units: 'metric' },
          '*': { units: 'metric' },
        },
        probe: {
          kind: 'operation',
          operation: { kind: 'tool', name: tool === 'get_weather' ? 'audits' : 'writes', arguments: {} },
        },
        oneTime: true,
        allowEffects: true,
      });
      const f = one.checked.filter(({ verdict }) => !['pass'].includes(verdict));
      console.log('=====', id, tool, Math.round(performance.now() - t), one.calls);
      for (const { check, verdict, finding, ms } of f)
        console.log(
          '  ',
          verdict.padEnd(14),
          check.id.padEnd(28),
          finding.actual.slice(0, 200).replaceAll('\n', ' '),
        );
      const slow = one.checked
        .toSorted((a, b) => b.ms - a.ms)
        .slice(0, 5)
        .map(({ check, ms }) => `${check.id} ${Math.round(ms)}`);
      console.log('   slow:', slow.join(', '));
    }
  }
} finally {
  await pg.stop();
}
