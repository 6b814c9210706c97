/**
 * Draws the report's card as docs/pictures/check-card.svg, from a real run against option E bare:
 * `node --import tsx tests/check/options/picture.ts`.
 */
import { writeFileSync } from 'node:fs';
import { postgresServer } from '@mrtr/postgres-server';
import { reportOf } from '../../../packages/check/src/report/report.ts';
import { terminalReport } from '../../../packages/check/src/report/terminal.ts';
import { runChecks } from '../../../packages/check/src/run/run.ts';
import { inWorld } from '../bare.test-support.ts';
import { inputsFor } from './measure.ts';

const PICTURE = new URL('../../../docs/pictures/check-card.svg', import.meta.url);
const LINE = 20;
const COLOURS: Readonly<Record<string, string>> = {
  ...{ 31: '#ff7b72', 33: '#e3b341', 36: '#56d4dd', 32: '#56d364', 35: '#d2a8ff', 90: '#8b949e', 1: '#fff' },
};

const postgres = await postgresServer(process.env.MRTR_TEST_POSTGRES);
try {
  const ran = await inWorld(async (world) => {
    const place = { postgres: await postgres.database(), world };
    const { address, ...inputs } = inputsFor('e-bare', 'resolve_work_item', place);
    const { next, ...server } = address;
    return runChecks({ ...inputs, address: server });
  });
  const report = reportOf(ran, { name: 'option E bare' });
  writeFileSync(PICTURE, picture(cardOf(terminalReport(report, true))));
} finally {
  await postgres.stop();
}

function cardOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.slice(
    1,
    lines.findIndex((line, at) => at > 0 && line.includes('───')),
  );
}

function picture(lines: readonly string[]): string {
  const [width, height] = [820, lines.length * LINE + 24];
  const rows = lines.map((line, at) => `<text x="0" y="${30 + at * LINE}">${spans(line)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The report card of mrtr-check">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.5" fill="#e6edf3" xml:space="preserve">
${rows.join('\n')}
</g>
</svg>
`;
}

function spans(line: string): string {
  const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it reads the colours that the report was written with.
  return escaped.replace(/\u001b\[(\d+)m(.*?)\u001b\[\d+m/g, (_, code: string, piece: string) => {
    return `<tspan fill="${COLOURS[code] ?? ''}">${piece}</tspan>`;
  });
}
