/** The page of an approval. Every value is escaped. */
import { escapeHidden } from '@mrtr/core/internal';
import type { Visitor } from './page.ts';
import { escapeHtml, htmlPage, signedInAs } from './response.ts';

/** The content of an approval's page. */
export interface Shown {
  readonly words: string;
  readonly approve: string;
  readonly refuse: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** The page. */
export function showApproval(
  { words, approve, refuse, details }: Shown,
  visitor: Visitor,
  token: string,
): Response {
  // The refusal comes first: Enter presses the first button.
  return htmlPage(
    'Do you approve this?',
    `<h1>Do you approve this?</h1>
<blockquote><bdi>${escapeHtml(words)}</bdi></blockquote>
${listOf(details)}
${signedInAs(visitor.account ?? visitor.principal)}
<form method="post"><input type="hidden" name="token" value="${token}">
${button('refuse', refuse)}
${button('approve', approve)}
</form>`,
  );
}

const button = (value: string, label: string) =>
  `<button name="decision" value="${value}">${escapeHtml(label)}</button>`;

function listOf(details: Shown['details']) {
  const show = (value: unknown) => `<bdi>${escapeHtml(escapeHidden(`${value}`))}</bdi>`;
  const rows = Object.entries(details).map(
    ([name, value]) => `<dt>${show(name)}</dt><dd>${show(value)}</dd>`,
  );
  return rows.length === 0 ? '' : `<dl>${rows.join('')}</dl>`;
}
