"""A FastMCP tool that asks by returning an InputRequiredResult: python asks.py PORT"""

import sys

from fastmcp import Context, FastMCP
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

SCHEMA = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
mcp = FastMCP("asks")


@mcp.tool
async def deploy(env: str, ctx: Context) -> str | InputRequiredResult:
    if ctx.input_responses:
        return f"deployed to {env}"
    ask = ElicitRequest(params=ElicitRequestFormParams(message=f"Deploy to {env}?", requested_schema=SCHEMA))
    return InputRequiredResult(input_requests={"confirm": ask})


mcp.run(transport="http", port=int(sys.argv[1]))
