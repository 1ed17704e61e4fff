import { createHash } from 'node:crypto'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { toError, toResult } from '../result.ts'
import type { ApprovalRule, BoundTool, ToolResult } from '../tool.ts'
import type { ToolServerConnection } from './connection.ts'
import { failureOf } from './failure.ts'
import type { ListedTool, ToolServerDefinition } from './server.ts'

/** What every vendor takes as the name of a tool. */
const nameLength = 64

/** The most images of a result; others are only named. */
const imageLimit = 5
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

interface McpToolParts {
  server: ToolServerDefinition
  connection: ToolServerConnection
  listed: ListedTool
}

/** A tool of a tool server, ready to be called. */
export function toMcpTool({ server, connection, listed }: McpToolParts): BoundTool {
  const { name, description, inputSchema, isRepeatable, definition } = listed
  return {
    kind: 'mcp',
    name: toModelName(server.name, name),
    description,
    parameters: inputSchema,
    isRepeatable,
    approval: server.approval_mode === 'never' ? null : toRule(server, name),
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

/** The name by which the model calls a tool of a server. */
function toModelName(server: string, tool: string): string {
  const name = `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_')
  if (name.length <= nameLength) return name
  const hash = createHash('sha256').update(`${server}__${tool}`).digest('hex').slice(0, 8)
  return `${name.slice(0, nameLength - 9)}_${hash}`
}

/** The tool result of a call. */
function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const blocks = content ?? []
  const images = blocks.flatMap(toImage).slice(0, imageLimit)
  const texts = blocks.map(toText).filter(text => text !== null)
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent))
  return { ...toResult(texts.join('\n\n'), isError === true), ...(images.length > 0 && { images }) }
}

function toText(block: ContentBlock): string | null {
  if (block.type === 'text') return block.text
  if (block.type === 'image') return imageTypes.has(block.mimeType) ? null : '[image]'
  if (block.type === 'audio') return '[audio]'
  if (block.type === 'resource_link') return `${block.name}, ${block.uri}`
  if ('text' in block.resource) return block.resource.text
  return `[${Buffer.byteLength(block.resource.blob, 'base64')} bytes, ${block.resource.uri}]`
}

function toImage(block: ContentBlock): { image: Buffer; type: string }[] {
  if (block.type !== 'image' || !imageTypes.has(block.mimeType)) return []
  return [{ image: Buffer.from(block.data, 'base64'), type: block.mimeType }]
}
