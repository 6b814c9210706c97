/** Users who log in, in a Next application on several instances: what its `app/mcp/route.ts` exports. */
import { createMcpMount, listVerifier } from '@mrtr/hosting/http';
import { open } from './postgres-ledger.ts';

const { DATABASE_URL = '', STATE_KEY = '', TOKENS = '' } = process.env;
/** Stands for your sign-in, which finds the caller of a token. On a network, name your host in `allowedHosts`. */
const verifier = listVerifier(TOKENS);
const mcp = createMcpMount({ server: open(DATABASE_URL, [STATE_KEY]).createServer }, { verifier });

// Next would answer OPTIONS itself, and no page could call.
export const POST = (request: Request): Promise<Response> => mcp.fetch(request);
export { POST as DELETE, POST as GET, POST as OPTIONS };
