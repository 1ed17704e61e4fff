import { createHash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/client'
import { toError } from '../result.ts'
import type { ApprovalRule, BoundTool } from '../tool.ts'
import type { ToolServerConnection } from './connection.ts'
import { failureOf } from './failure.ts'
import { toToolResult } from './result.ts'
import type { ListedTool, ToolServerDefinition } from './server.ts'

interface McpToolParts {
  server: ToolServerDefinition
  connection: ToolServerConnection
  listed: ListedTool
  definition: Tool
}

/** A tool of a tool server, ready to be called. */
export function toMcpTool({ server, connection, listed, definition }: McpToolParts): BoundTool {
  return {
    kind: 'mcp',
    isRepeatable: listed.isRepeatable,
    approval: server.approval_mode === 'never' ? null : toRule(server, listed.name),
    async call(args, { signal }) {
      try {
        return toToolResult(await connection.call(definition, args, signal))
      } catch (error) {
        signal.throwIfAborted()
        return toError(failureOf(error))
      }
    },
  }
}

function toRule({ name, url }: ToolServerDefinition, tool: string): ApprovalRule {
  return {
    server: name,
    tool,
    binding: args =>
      createHash('sha256')
        .update(JSON.stringify([url, tool, sorted(args)]))
        .digest(),
  }
}

/** Members in a fixed order, so that arguments are unchanged by storing them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return members.map(([name, member]) => [name, sorted(member)])
}
