import { z } from 'zod'
import type { Tool } from '@modelcontextprotocol/client'
import type { ListedTool } from './server.ts'

/** Of one server. An agent's list of allowed tools is applied to these, and 128 of those are offered. */
const toolLimit = 1_000
const schemaLimitBytes = 32 * 1024
const descriptionLength = 2_000

/** The tools of a server that can be offered. */
export interface Listing {
  tools: ListedTool[]
  /** The reason for each tool, by its name, that cannot be offered. */
  skipped: { name: string; reason: string }[]
  /** For how long the server allows caching; 0: not at all. */
  ttlMs: number
}

/** A page of tools of any form: one of a wrong form does not cost the others. */
export const AnyPage = z.looseObject({
  tools: z.array(z.unknown()).catch([]),
  nextCursor: z.string().optional().catch(undefined),
  ttlMs: z.unknown().optional(),
})

const AnyTool = z.looseObject({
  name: z.string().min(1).max(256),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.union([z.looseObject({}), z.boolean()])).optional(),
    required: z.array(z.string()).optional(),
  }),
  annotations: z.looseObject({}).optional().catch(undefined),
})

/** Selects the tools that can be offered to a model. The client has dropped tools with invalid headers. */
export function readListing({ tools, ttlMs }: { tools: readonly unknown[]; ttlMs?: unknown }): Listing {
  const listing: Listing = { tools: [], skipped: [], ttlMs: typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : 0 }
  for (const tool of tools.slice(0, toolLimit)) {
    const { success, error, data } = AnyTool.safeParse(tool)
    if (!success)
      listing.skipped.push({ name: nameOf(tool), reason: `${error.issues[0]!.path.join('.')} is not valid` })
    else if (Buffer.byteLength(JSON.stringify(data.inputSchema)) > schemaLimitBytes) {
      listing.skipped.push({ name: data.name, reason: 'inputSchema has more than 32 KiB' })
    } else listing.tools.push(toListed(data as Tool))
  }
  const surplus = tools.length - toolLimit
  if (surplus > 0) listing.skipped.push({ name: `${surplus} more`, reason: `there are more than ${toolLimit}` })
  return listing
}

function nameOf(tool: unknown): string {
  const name = typeof tool === 'object' && tool !== null && 'name' in tool ? tool.name : undefined
  return typeof name === 'string' ? name.slice(0, 100).toWellFormed() : 'unnamed'
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
