/**
 * The viewer as one script, for pages that show transcripts, such as the checker's report. It draws each `<script
 * type="application/json" data-mrtr-transcript>` below that element, and hides the `data-mrtr-text` element before it,
 * which has the same content as text.
 */
import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { TranscriptSoFar } from '../../../src/protocol.ts';
import { type View, Viewer } from './viewer.tsx';
import './standalone.css';

function Alone({ conversation }: { readonly conversation: TranscriptSoFar }) {
  const [view, setView] = useState<View>({ zoom: 'rounds', panel: 'wire' });
  const [file] = useState(() => URL.createObjectURL(new Blob([JSON.stringify(conversation)])));
  return (
    <>
      <Viewer sides={[{ conversation, head: undefined }]} view={view} onView={setView} ofSeveral />
      <a href={file} download="transcript.json">
        Save this transcript for the lab
      </a>
    </>
  );
}

for (const data of document.querySelectorAll('script[data-mrtr-transcript]')) {
  const element = document.createElement('div');
  element.className = 'mrtr-viewer';
  data.after(element);
  try {
    render(<Alone conversation={JSON.parse(data.textContent ?? '') as TranscriptSoFar} />, element);
    const text = data.previousElementSibling;
    if (text instanceof HTMLElement && text.matches('[data-mrtr-text]')) text.hidden = true;
  } catch (error) {
    // Keep the text.
    element.remove();
    reportError(error);
  }
}
