// Stands in for Supabase's Management API: each POST is one query that ran, and a GET reads how many there were.
import { createServer } from 'node:http';

let queries = 0;
createServer((request, response) => {
  const ran = request.method === 'POST';
  if (ran) queries += 1;
  request.resume();
  response
    .writeHead(ran ? 201 : 200, { 'content-type': 'application/json' })
    .end(ran ? '[]' : String(queries));
}).listen(4999, '127.0.0.1');
