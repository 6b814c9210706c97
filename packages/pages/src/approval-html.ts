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

/** The parts of the page, as escaped HTML. */
export interface ApprovalView {
  readonly words: string;
  /** A `<dl>`; empty without details. */
  readonly details: string;
  /** The account that the browser is signed in with. Show it. */
  readonly account: string;
  /** The form with its two buttons. Show it unchanged. */
  readonly form: string;
}

/** The page. `render` makes the content of its `<main>`. */
export function showApproval(
  shown: Shown & { readonly visitor: Visitor; readonly token: string },
  render: (view: ApprovalView) => string,
): Response {
  const { words, approve, refuse, details, visitor, token } = shown;
  const view = {
    words: `<bdi>${escapeHtml(words)}</bdi>`,
    details: listOf(details),
    account: signedInAs(visitor.account ?? visitor.principal),
    // The refusal comes first: Enter presses the first button.
    form: `<form method="post"><input type="hidden" name="token" value="${token}">
${button('refuse', refuse)}
${button('approve', approve)}
</form>`,
  };
  return htmlPage('Do you approve this?', render(view));
}

/** The default content of `<main>`. */
export const renderApproval = ({ words, details, account, form }: ApprovalView): string =>
  `<h1>Do you approve this?</h1>
<blockquote>${words}</blockquote>
${details}
${account}
${form}`;

const button = (value: string, label: string): string =>
  `<button name="decision" value="${value}">${escapeHtml(label)}</button>`;

function listOf(details: Shown['details']): string {
  const show = (value: unknown) => `<bdi>${escapeHtml(escapeHidden(`${value}`))}</bdi>`;
  const rows = Object.entries(details).map(
    ([name, value]) => `<dt>${show(name)}</dt><dd>${show(value)}</dd>`,
  );
  return rows.length === 0 ? '' : `<dl>${rows.join('')}</dl>`;
}
