/** Users who log in, in a Next application: what its `app/mcp/route.ts` exports. */
import { mcp, signIn } from './signed-in.ts';

export async function POST(request: Request): Promise<Response> {
  const caller = await signIn(request);
  return caller instanceof Response ? caller : mcp.fetch(request, { authInfo: caller });
}
export { POST as DELETE, POST as GET };
