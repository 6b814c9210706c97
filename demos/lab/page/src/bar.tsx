import type { Conversation } from '../../src/protocol.ts';
import { hashOf, type Route } from './route.ts';

export function Bar({
  route,
  live,
}: {
  route: Route;
  go: (route: Route) => void;
  shown: readonly Conversation[];
  live: boolean;
}) {
  return (
    <header class="bar">
      <h1>
        The lab <small>mrtr-shapes</small>
      </h1>
      <nav aria-label="Pages">
        <a href={hashOf({ page: 'matrix' })} aria-current={route.page === 'matrix' ? 'page' : undefined}>
          Measured
        </a>
      </nav>
      <div class="right">
        <span class={`badge ${live ? 'live' : ''}`}>{live ? 'live' : 'recorded'}</span>
      </div>
    </header>
  );
}
