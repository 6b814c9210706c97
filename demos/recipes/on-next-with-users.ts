/** Users who log in, in a Next application on several instances: what its `app/mcp/route.ts` exports. */
import { requireBearerAuth } from '@modelcontextprotocol/server';
import { createMcpMount, listVerifier } from '@mrtr/hosting/http';
import { open } from './postgres-ledger.ts';

const { DATABASE_URL = '', STATE_KEY = '', TOKENS = '' } = process.env;
/** Stands for your sign-in: it returns the caller, or the response to a request without a valid token. */
const signIn = requireBearerAuth({ verifier: listVerifier(TOKENS) });
// On a network, name your host in `allowedHosts`.
const mcp = createMcpMount({ server: open(DATABASE_URL, [STATE_KEY]).createServer }, { anonymous: 'reject' });

export async function POST(request: Request): Promise<Response> {
  const caller = await signIn(request);
  return caller instanceof Response ? caller : mcp.fetch(request, { authInfo: caller });
}
export { POST as DELETE, POST as GET };
