/** The report as Markdown, for an issue or a job's summary. */
import { escapeHidden } from '@mrtr/harness/internal';
import { VERDICTS } from '../judging/check.ts';
import { draw } from './drawing.ts';
import {
  acceptedMark,
  addressIn,
  commandsOf,
  describeRun,
  partsOf,
  type Report,
  type ReportedCheck,
  titleOf,
} from './report.ts';
import { forMarkdown } from './text.ts';

/** Returns the Markdown of a report. */
export function markdownReport(report: Report) {
  const { target, summary } = report;
  const { tally, exit, stale, caveats, findings, rest } = describeRun(report);
  return [
    `# mrtr-check: ${forMarkdown(titleOf(target))}`,
    '',
    `${forMarkdown(addressIn(target))} · ${tally} · ${exit}`,
    '',
    `| ${VERDICTS.join(' | ')} |`,
    `|${' --- |'.repeat(VERDICTS.length)}`,
    `| ${VERDICTS.map((verdict) => summary[verdict]).join(' | ')} |`,
    '',
    ...[...stale, ...caveats].map((line) => `* ${forMarkdown(line)}\n`),
    ...findings.map(
      ({ verdict, found }) =>
        `* **${verdict}**: ${found.map((one) => `\`${one.id}\`${acceptedMark(one)}`).join(', ')}`,
    ),
    ...(findings.length > 0 ? [''] : []),
    ...findings.flatMap(({ found }) => found.flatMap(section)),
    '## Everything else',
    '',
    '| Check | Verdict | Seen |',
    '| --- | --- | --- |',
    ...rest.map(({ id, verdict, actual }) => `| \`${id}\` | ${verdict} | ${forMarkdown(actual)} |`),
    '',
  ].join('\n');
}

/** One finding. Text from the server is escaped in prose, and unchanged in fences. */
function section(check: ReportedCheck) {
  return [
    `## ${check.verdict}: \`${check.id}\``,
    '',
    ...partsOf(check).map(({ name, text }) => `* **${name}**: ${forMarkdown(text)}`),
    '',
    ...fence('sh', commandsOf(check)),
    ...(check.conversation ? fence('text', draw(check.conversation)) : []),
  ];
}

function fence(language: string, lines: readonly string[]) {
  const safe = lines.map((line) => escapeHidden(line));
  const longest = Math.max(2, ...safe.flatMap((line) => (line.match(/`+/g) ?? []).map((run) => run.length)));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...safe, fence, ''];
}
