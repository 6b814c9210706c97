/**
 * The viewer as one script, for pages that show transcripts, such as the checker's report. It draws every
 * `<script type="application/json" data-mrtr-transcript>` of the page below that element, and hides an element with
 * `data-mrtr-text` before it, which says the same as text.
 */
import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { Conversation } from '../../../src/protocol.ts';
import { type View, Viewer } from './viewer.tsx';
import './standalone.css';

function Alone({ conversation }: { readonly conversation: Conversation }) {
  const [view, setView] = useState<View>({ zoom: 'rounds', panel: 'wire' });
  return <Viewer sides={[{ conversation, head: undefined }]} view={view} onView={setView} ofSeveral />;
}

for (const data of document.querySelectorAll('script[data-mrtr-transcript]')) {
  const element = document.createElement('div');
  element.className = 'mrtr-viewer';
  data.after(element);
  try {
    render(<Alone conversation={JSON.parse(data.textContent ?? '') as Conversation} />, element);
    const text = data.previousElementSibling;
    if (text instanceof HTMLElement && text.matches('[data-mrtr-text]')) text.hidden = true;
  } catch (error) {
    // The text stays.
    element.remove();
    reportError(error);
  }
}
