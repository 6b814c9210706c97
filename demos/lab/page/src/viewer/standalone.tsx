/**
 * The viewer as one script, for pages that show transcripts, such as the checker's report. It draws every
 * `<script type="application/json" data-mrtr-transcript>` of the page into an element that it puts in that one's place.
 */
import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { Conversation } from '../../../src/protocol.ts';
import { type View, Viewer } from './viewer.tsx';

function Alone({ conversation }: { readonly conversation: Conversation }) {
  const [view, setView] = useState<View>({ zoom: 'rounds', panel: 'wire' });
  const head = <h2>{conversation.title}</h2>;
  return <Viewer sides={[{ conversation, insides: {}, head }]} view={view} onView={setView} />;
}

/** Draws one transcript into `element`. */
export function draw(element: Element, conversation: Conversation): void {
  render(<Alone conversation={conversation} />, element);
}

for (const data of document.querySelectorAll('script[data-mrtr-transcript]')) {
  const element = document.createElement('div');
  element.className = 'mrtr-viewer';
  data.after(element);
  draw(element, JSON.parse(data.textContent ?? '') as Conversation);
}
