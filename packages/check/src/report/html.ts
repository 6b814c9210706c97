/** The report as one HTML file, with nothing to load. */
import type { Verdict } from '../checks/check.ts';
import { drawn } from './drawing.ts';
import { addressIn, type Report, type ReportedCheck } from './report.ts';
import { forMarkup } from './text.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --fail: #c62828; --warn: #b26a00; --advice: #00707f; --pass: #2e7d32; --undecided: #8e24aa; }
@media (prefers-color-scheme: dark) { :root { --fail: #ff8a80; --warn: #ffcc80; --advice: #80deea; --pass: #a5d6a7; --undecided: #e1bee7; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1.5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; }
.counts { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; list-style: none; padding: 0; font-size: 1.1rem; }
.counts b { font-size: 1.5rem; }
.fail { color: var(--fail); } .warn { color: var(--warn); } .advice { color: var(--advice); } .pass { color: var(--pass); } .could-not-run { color: var(--undecided); }
section { border-top: 1px solid var(--line); } dt { font-weight: 600; float: left; width: 6rem; clear: left; } dd { margin: 0 0 .4rem 6.5rem; }
pre { overflow-x: auto; background: #8881; padding: .75rem; border-radius: .4rem; font-size: .85rem; line-height: 1.25; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
`;

// What a reader has to do something about comes first, and each of it in full.
const FINDINGS: readonly Verdict[] = ['fail', 'warn', 'advice'];
const OTHERS: readonly Verdict[] = ['could-not-run', 'not-run', 'not-applicable', 'pass'];

/** Writes it: one page for all targets. */
export function htmlReport(reports: readonly Report[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>mrtr-check</title>
<style>${STYLE}</style>
</head>
<body>
${reports.map(page).join('\n')}
</body>
</html>
`;
}

function page(report: Report): string {
  const { target, summary, checks } = report;
  const of = (verdicts: readonly Verdict[]) =>
    verdicts.flatMap((verdict) => checks.filter((check) => check.verdict === verdict));
  const counts = [...FINDINGS, 'pass' as const, ...OTHERS.slice(0, 3)].map(
    (verdict) => `<li class="${verdict}"><b>${summary[verdict]}</b> ${verdict.replaceAll('-', ' ')}</li>`,
  );
  const stale = summary.stale.map(
    (id) => `<p class="fail">The baseline accepts ${forMarkup(id)}, which is no longer found.</p>`,
  );
  return `<h1>${forMarkup(`${target.method} ${target.operation}`)}</h1>
<div class="card"><p>${forMarkup(addressIn(target))}</p>
<ul class="counts">${counts.join('')}</ul>
<p>${summary.ran} of ${summary.checks} checks ran · ${summary.calls} requests · ${summary.seconds} s · seed ${report.seed} · exit ${report.exitCode}</p>${stale.join('')}</div>
${of(FINDINGS).map(section).join('\n')}
<h2>Everything else</h2>
<table><thead><tr><th>Check</th><th>Verdict</th><th>Seen</th></tr></thead><tbody>
${of(OTHERS).map(row).join('\n')}
</tbody></table>`;
}

/** A check that needs nobody's attention: one line. */
const row = ({ id, verdict, actual }: ReportedCheck): string =>
  `<tr><td><code>${forMarkup(id)}</code></td><td class="${verdict}">${verdict}</td><td>${forMarkup(actual)}</td></tr>`;

/** A finding: what it is, what to do, the commands, and the conversation. Nothing of it is trusted. */
function section(check: ReportedCheck): string {
  const entry = (name: string, text: string) => `<dt>${name}</dt><dd>${forMarkup(text)}</dd>`;
  const commands = [check.reproduce, ...(check.curl ? [check.curl] : [])];
  return `<section><h2 class="${check.verdict}">${check.verdict}: <code>${forMarkup(check.id)}</code></h2>
<dl>${entry('Expected', check.expected)}${entry('Seen', check.actual)}${entry('Clause', `${check.clause.at}: “${check.clause.words}”`)}${entry('Do', check.remedy)}${check.accepted === null ? '' : entry('Accepted', check.accepted)}</dl>
<pre>${forMarkup(commands.join('\n'))}</pre>${check.conversation ? `\n<pre>${forMarkup(drawn(check.conversation).join('\n'))}</pre>` : ''}</section>`;
}
