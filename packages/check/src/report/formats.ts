/** The formats of a report. */
import { htmlReport, readViewer } from './html.ts';
import { junitReport } from './junit.ts';
import { markdownReport } from './markdown.ts';
import { PROFILE, type Report } from './report.ts';
import { type Sources, sarifReport } from './sarif.ts';
import { terminalReport } from './terminal.ts';
import { jsonText } from './text.ts';

/** What only the program sets. */
interface Details extends Sources {
  readonly strict?: boolean | undefined;
  readonly colours?: boolean;
  /** The folder of the built viewer. */
  readonly viewer?: URL | undefined;
}

type Format = (reports: readonly Report[], details: Details) => string;

export const FORMATS = {
  terminal: (reports, { colours }) => reports.map((report) => terminalReport(report, colours)).join('\n'),
  json: (reports) => {
    const [report] = reports;
    const value = reports.length === 1 ? report : { profile: PROFILE, exitCode: worstCode(reports), reports };
    return `${jsonText(value)}\n`;
  },
  junit: (reports, { strict }) => junitReport(reports, strict),
  markdown: (reports) => reports.map(markdownReport).join('\n'),
  html: (reports, { viewer }) => htmlReport(reports, viewer && readViewer(viewer)),
  sarif: sarifReport,
} as const satisfies Readonly<Record<string, Format>>;

/** The name of a format: `terminal`, `json`, `junit`, `markdown`, `html` or `sarif`. */
export type ReportFormat = keyof typeof FORMATS;

/**
 * Formats the reports of one or more targets as one text. What a server sent is escaped in it.
 *
 * @example
 * const text = formatReports([await run(inputs)], 'markdown');
 */
export const formatReports = (reports: readonly Report[], format: ReportFormat) =>
  FORMATS[format](reports, {});

/** The exit code for several targets: a failure of one, or else one that could not decide. */
export const worstCode = (reports: readonly Report[]): Report['exitCode'] =>
  ([1, 3] as const).find((code) => reports.some(({ exitCode }) => exitCode === code)) ?? 0;
