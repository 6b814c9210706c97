"""A FastMCP tool that asks by returning an InputRequiredResult: python asks.py PORT"""

import sys

from fastmcp import FastMCP
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

SCHEMA = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
mcp = FastMCP("asks")


@mcp.tool
async def deploy(env: str) -> str | InputRequiredResult:
    ask = ElicitRequest(params=ElicitRequestFormParams(message=f"Deploy to {env}?", requested_schema=SCHEMA))
    return InputRequiredResult(input_requests={"confirm": ask})


mcp.run(transport="http", port=int(sys.argv[1]))
