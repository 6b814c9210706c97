/** The route of `/mcp`. */
export { DELETE, GET, OPTIONS, POST } from '../../../on-next-with-users.ts';
