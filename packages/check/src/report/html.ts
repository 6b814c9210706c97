/** The report as one HTML file that loads nothing else. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Transcript } from '@mrtr/harness/transcript';
import { FINDINGS, UNDECIDED } from '../judging/check.ts';
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
import { forMarkup, printable } from './text.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --fail: #c62828; --warn: #8f5500; --advice: #00707f; --pass: #2e7d32; --undecided: #8e24aa; }
@media (prefers-color-scheme: dark) { :root { --fail: #ff8a80; --warn: #ffcc80; --advice: #80deea; --pass: #a5d6a7; --undecided: #e1bee7; } }
html { background: light-dark(#fff, #131519); color: light-dark(#1c1e21, #e7e9ec); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1.5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; }
.verdicts { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; list-style: none; padding: 0; font-size: 1.1rem; }
.verdicts b { font-size: 1.5rem; }
.found { list-style: none; padding: 0; } .found li { display: grid; grid-template-columns: 4.5rem 1fr; } .found a { color: inherit; display: inline-block; }
.fail { color: var(--fail); } .warn { color: var(--warn); } .advice { color: var(--advice); } .pass { color: var(--pass); } .could-not-run { color: var(--undecided); }
.finding { border-top: 1px solid var(--line); }
.finding > dl > dt { font-weight: 600; float: left; width: 6rem; clear: left; } .finding > dl > dd { margin: 0 0 .4rem 6.5rem; overflow-wrap: anywhere; }
.plain { overflow-x: auto; background: #8881; padding: .75rem; border-radius: .4rem; font-size: .85rem; line-height: 1.25; }
.others { border-collapse: collapse; width: 100%; } .others :is(td, th) { border-bottom: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
@media print { .mrtr-viewer { display: none; } .plain[hidden] { display: block; } }
`;

/** The lab's viewer, which draws the conversations. Only the published package contains its build. */
interface Viewer {
  readonly script: string;
  readonly style: string;
}

/** Reads the viewer in `folder`. Undefined if it is not built: reports then show conversations as text. */
export function readViewer(folder: URL) {
  const [script, style] = [new URL('viewer.js', folder), new URL('viewer.css', folder)];
  if (!existsSync(script) || !existsSync(style)) return undefined;
  return { script: readFileSync(script, 'utf8'), style: readFileSync(style, 'utf8') };
}

/**
 * Returns one page for all targets, which opens from a disk.
 *
 * @param viewer draws the conversations. Without it or without scripts, the page shows them as text.
 */
export function htmlReport(reports: readonly Report[], viewer?: Viewer) {
  const { script, style } = viewer ?? {};
  const styles = [STYLE, ...(style ? [style] : [])];
  // Allow only the scripts and styles of this page.
  const policy = [
    "default-src 'none'",
    ...(script ? [`script-src ${hashOf(script)}`] : []),
    `style-src ${styles.map(hashOf).join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mrtr-check</title>
${styles.map((style) => `<style>${style}</style>`).join('\n')}
</head>
<body>
<main>
${reports.map((report, at) => page(report, at + 1, viewer !== undefined)).join('\n')}
</main>
${script ? `<script>${script}</script>\n` : ''}</body>
</html>
`;
}

const hashOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;

/** The part for one target. `at` makes its anchors unique. */
function page(report: Report, at: number, isDrawn: boolean) {
  const { target, summary } = report;
  const { tally, exit, stale, caveats, findings, rest } = describeRun(report);
  const counts = [...FINDINGS, 'pass' as const, ...UNDECIDED].map(
    (verdict) => `<li class="${verdict}"><b>${summary[verdict]}</b> ${verdict.replaceAll('-', ' ')}</li>`,
  );
  const notes = [
    ...stale.map((line) => `<p class="fail">${forMarkup(line)}</p>`),
    ...caveats.map((line) => `<p>${forMarkup(line)}</p>`),
  ];
  return `<h1>${forMarkup(titleOf(target))}</h1>
<div class="card"><p>${forMarkup(addressIn(target))}</p>
<ul class="verdicts">${counts.join('')}</ul>
${links(findings, at)}<p>${tally} · ${exit}</p>${notes.join('')}</div>
${findings.flatMap(({ found }) => found.map((check) => section(check, at, isDrawn))).join('\n')}
<h2>Everything else</h2>
<table class="others"><thead><tr><th scope="col">Check</th><th scope="col">Verdict</th><th scope="col">Seen</th></tr></thead><tbody>
${rest.map(row).join('\n')}
</tbody></table>`;
}

function links(findings: ReturnType<typeof describeRun>['findings'], at: number) {
  const lines = findings.map(({ verdict, found }) => {
    const ids = found.map(
      (one) => `<a href="#${at}-${forMarkup(one.id)}">${forMarkup(one.id)}</a>${acceptedMark(one)}`,
    );
    return `<li><b class="${verdict}">${verdict}</b><span>${ids.join(' · ')}</span></li>`;
  });
  return lines.length === 0 ? '' : `<ul class="found">${lines.join('')}</ul>\n`;
}

const row = ({ id, verdict, actual }: ReportedCheck) =>
  `<tr><td><code>${forMarkup(id)}</code></td><td class="${verdict}">${verdict}</td><td>${forMarkup(actual)}</td></tr>`;

/** One finding: its parts, the commands and the conversation. All text is untrusted. */
function section(check: ReportedCheck, at: number, isDrawn: boolean) {
  const parts = partsOf(check).map(({ name, text }) => `<dt>${name}</dt><dd>${forMarkup(text)}</dd>`);
  return `<section class="finding" id="${at}-${forMarkup(check.id)}"><h2 class="${check.verdict}">${check.verdict}: <code>${forMarkup(check.id)}</code></h2>
<dl>${parts.join('')}</dl>
<pre class="plain" tabindex="0">${forMarkup(commandsOf(check).join('\n'))}</pre>${check.conversation ? conversation(check.conversation, isDrawn) : ''}</section>`;
}

function conversation(transcript: Transcript, isDrawn: boolean) {
  const text = `\n<pre class="plain" data-mrtr-text tabindex="0">${forMarkup(draw(transcript).join('\n'))}</pre>`;
  // Escape `<`, so that no text ends the script element. The viewer shows printable text only.
  const data = JSON.stringify(printable(transcript)).replaceAll('<', '\\u003c');
  return isDrawn ? `${text}\n<script type="application/json" data-mrtr-transcript>${data}</script>` : text;
}
