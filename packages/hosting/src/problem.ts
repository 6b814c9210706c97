/** A refusal in JSON-RPC's form. */
export const problem = (
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code = -32000,
): Response => Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
