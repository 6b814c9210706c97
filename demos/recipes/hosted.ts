/** HTTP for clients of both eras: old ones get a session, so that a tool can ask their users, too. */
import { type HttpHosting, serveHttp } from '@mrtr/hosting/http';
import { createServer } from './deploy.ts';

/** Listens on this machine only. `port` 0 is any free port. */
export async function open(port: number): Promise<HttpHosting> {
  const hosting = await serveHttp(
    { server: createServer }, // with `close`, where something outlives a request, such as H's store
    { port, onerror: (error) => console.error(error.message) },
  );
  process.once('SIGTERM', () => void hosting.close()); // finishes the calls in flight
  return hosting;
}
