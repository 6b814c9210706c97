#!/usr/bin/env bash
# Repeats a finding of docs/findings.md with the checker of this clone: bash docs/findings/reproduce.sh supabase
# Works in a new folder. The findings in SDKs and suites fetch their examples from GitHub.
set -euo pipefail
MRTR=$(cd "$(dirname "$0")/../.." && pwd)
OTHERS=$(mktemp -d)

# Nothing is published yet, so the checker is packed here.
setUp() {
  cd "$MRTR" && npx -y pnpm@12 install
  npx -y pnpm@12 -r --filter @mrtr/harness --filter @mrtr/check pack --pack-destination "$OTHERS/packed"
  cd "$OTHERS" && npm init -y > /dev/null && npm install ./packed/*.tgz
}

check() {
  npx --no-install mrtr-check --allow-effects "$@"
}

examplesOfTypescriptSdk() {
  git clone --no-checkout https://github.com/modelcontextprotocol/typescript-sdk sdk
  git -C sdk archive 3924de9 examples | tar x
  npm install @modelcontextprotocol/{server,client}@2.4.0 @modelcontextprotocol/{node,hono} hono @hono/node-server zod tsx
  # The guide's file as far as its harness, served; and the same with wipes counted in a file.
  sed '/^\/\/ Harness/,$d' examples/guides/servers/input-required.examples.ts > served.mts
  echo "import { serveStdio } from '@modelcontextprotocol/server/stdio'; serveStdio(() => server);" >> served.mts
  sed "s/return.*Wiped/(await import('node:fs')).appendFileSync('wipes', 'x'); &/" served.mts > counted.mts
  touch wipes
}

examplesOfPythonSdk() {
  git clone --no-checkout https://github.com/modelcontextprotocol/python-sdk py
  git -C py archive 57394b0 examples | tar x -C py
  python3 -m venv venv && venv/bin/pip install mcp==2.3.0 fastmcp==4.0.10
}

deployOf() {
  PYTHONPATH=py/examples check --only capability --tool deploy --arguments '{"env":"staging"}' \
    --answer 'confirm={"confirm":true}' -- venv/bin/python "$@"
}

case "${1:-}" in
  supabase)
    setUp
    npm install @supabase/mcp-server-supabase@0.13.0
    node "$MRTR/docs/findings/management-api.mjs" & api=$!
    trap 'kill $api' EXIT
    check --only retry.twice --tool execute_sql --arguments '{"project_id":"p","query":"delete from orders"}' \
      --generate-answers --probe url:http://localhost:4999 --header 'Authorization: Bearer me' \
      'http://localhost:{port}/mcp?features=database' -- npx --no-install mcp-server-supabase --http --port '{port}' \
      --api-url http://localhost:4999 --secret-url-template 'https://localhost/{ref}/{name}'
    ;;
  wipe-cache)
    setUp && examplesOfTypescriptSdk
    check --only refusal.no-effect --tool wipe-cache --answer 'confirm={"confirm":true}' \
      --answer 'scope={"scope":"sessions"}' --probe 'cmd:wc -c < wipes' -- npx tsx counted.mts
    ;;
  python)
    setUp && examplesOfPythonSdk
    deployOf -m stories.mrtr.server --http --port '{port}'
    ;;
  fastmcp)
    setUp && examplesOfPythonSdk
    deployOf "$MRTR/docs/findings/asks.py" '{port}'
    ;;
  elicitation)
    setUp && examplesOfTypescriptSdk
    mkdir -p node_modules/@mcp-examples && cp -r examples/shared node_modules/@mcp-examples/
    check --only state.forged,answer.invalid,wire.schema --tool plan_trip --answer 'dest={"destination":"Tokyo"}' \
      --answer 'dates={"departure":"2026-12-01","nights":3}' -- npx tsx examples/elicitation/server.ts --http --port '{port}'
    ;;
  mastra)
    setUp
    npm install @mastra/mcp@2.0.0 '@mastra/core@>=1.68.0 <2' zod && cp "$MRTR/docs/findings/booking.mjs" .
    check --only answer.missing --tool bookDelivery --arguments '{"orderId":"1"}' \
      --answer 'input={"address":"Main St"}' -- node booking.mjs '{port}'
    ;;
  provision)
    setUp && examplesOfTypescriptSdk
    check --only answer.partial --tool provision --answer 'name={"name":"analytics"}' \
      --answer 'region={"region":"eu"}' -- npx tsx served.mts
    ;;
  suite)
    setUp
    git clone --no-checkout https://github.com/modelcontextprotocol/conformance suite
    mkdir everything && git -C suite archive c321dd3 examples/servers/typescript | tar x --strip 3 -C everything
    npm install --prefix everything && npm install tsx
    check --only answer.refusal-with-content,state.malformed --tool test_input_required_result_multi_round \
      --generate-answers 'http://localhost:{port}/mcp' \
      -- bash -c 'cd everything && PORT=$0 exec npx tsx everything-server.ts' '{port}'
    ;;
  *)
    echo 'Name a finding: supabase, wipe-cache, python, fastmcp, elicitation, mastra, provision or suite.' >&2
    exit 2
    ;;
esac
