import type { ListToolsResult, Tool } from '@modelcontextprotocol/client'
import type { ListedTool } from './server.ts'

/** Of one server. */
const toolLimit = 128
const schemaLimitBytes = 32 * 1024
const descriptionLength = 2_000

/** The tools of a server that can be offered. */
export interface Listing {
  tools: ListedTool[]
  /** For how long the server allows caching; 0: not at all. */
  ttlMs: number
}

/** Selects the tools that can be offered to a model. The client has dropped tools with invalid headers. */
export function readListing(result: ListToolsResult): Listing {
  const { ttlMs } = result as { ttlMs?: unknown }
  return {
    tools: result.tools.slice(0, toolLimit).filter(isOfUse).map(toListed),
    ttlMs: typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : 0,
  }
}

function isOfUse({ name, inputSchema }: Tool): boolean {
  const size = Buffer.byteLength(JSON.stringify(inputSchema))
  return name !== '' && name.length <= 256 && inputSchema.type === 'object' && size <= schemaLimitBytes
}

function toListed({ outputSchema: _, ...definition }: Tool): ListedTool {
  const { name, title, description, inputSchema, annotations } = definition
  return {
    name,
    title: title ?? annotations?.title ?? null,
    description: (description ?? title ?? '').slice(0, descriptionLength).toWellFormed(),
    inputSchema,
    isRepeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
    definition,
  }
}
