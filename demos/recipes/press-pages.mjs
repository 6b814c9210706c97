/**
 * Presses the button of each page that a server asks its user to open, as the user whose headers the request has. Checks a tool that asks
 * on a page: node press-pages.mjs http://localhost:3000/mcp http://localhost:3000/approve 3001
 * Then give mrtr-check the address http://localhost:3001/mcp. Run it on test data: it approves everything.
 */
import { createServer } from 'node:http';

const [server, pages, port] = process.argv.slice(2);

createServer(async (req, res) => {
  const { host, connection, 'content-length': length, ...headers } = req.headers;
  const body = Buffer.concat(await req.toArray());
  const answer = await fetch(server, { method: req.method, headers, ...(body.length > 0 && { body }) });
  const text = await answer.text();
  const { authorization = '', cookie = '' } = headers;
  for (const [link] of text.matchAll(/https?:[^"\\\s]+/g))
    if (link.startsWith(pages)) await press(link, { authorization, cookie, origin: new URL(link).origin });
  res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text);
}).listen(Number(port), () => console.log(`Pressing the pages of ${pages} at http://localhost:${port}/mcp`));

async function press(page, headers) {
  const html = await (await fetch(page, { headers })).text();
  const [, token] = /name="token" value="([^"]+)"/.exec(html) ?? [];
  // The fields that a press on your page's button sends.
  const body = new URLSearchParams({ decision: 'approve', ...(token && { token }) });
  await fetch(page, { method: 'POST', headers, body });
}
