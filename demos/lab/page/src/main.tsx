/** The lab's page. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Recording } from '../../src/protocol.ts';
import './page.css';
import { Bar } from './bar.tsx';
import { Compare } from './compare.tsx';
import { Matrix } from './matrix.tsx';
import { hashOf, type Route, readRoute } from './route.ts';

function Lab() {
  const [route, setRoute] = useState<Route>(() => readRoute(location.hash));
  const [recordings, setRecordings] = useState<readonly Recording[]>([]);
  useEffect(() => {
    const onHash = () => setRoute(readRoute(location.hash));
    addEventListener('hashchange', onHash);
    return () => removeEventListener('hashchange', onHash);
  }, []);
  const go = (next: Route) => {
    setRoute(next);
    // A step is no page of its own: the way back leads past it.
    history.replaceState(null, '', hashOf(next));
  };
  const isWork = route.page === 'compare' || route.page === 'live' || route.page === 'file';
  return (
    <div class={`page ${isWork ? 'fixed' : ''}`}>
      <Bar route={route} go={go} shown={recordings.map(({ transcript }) => transcript)} live={false} />
      {route.page === 'matrix' && <Matrix live={false} />}
      {route.page === 'compare' && <Compare route={route} go={go} onShown={setRecordings} />}
    </div>
  );
}

render(<Lab />, document.getElementById('lab') as HTMLElement);
