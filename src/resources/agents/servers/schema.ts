import { z } from 'zod'
import { WebAddressInput } from '../../../api/shape.ts'
import { problem } from '../../../lib/errors.ts'
import { Headers, HeadersInput, ToolName } from '../children/address.ts'
import type { ToolServerDefinition } from '../../../agents/tools/mcp/server.ts'

/** The most tool servers of one agent. */
export const mostServers = 16

const approvalModes = ['always', 'never'] as const

export const NewToolServer = z.object({
  name: ToolName.describe('Tells the server from others in tool calls'),
  url: WebAddressInput,
  description: z.string().trim().max(4096).nullish(),
  allowed_tools: z.array(z.string().trim().min(1).max(256)).max(256).nullish().describe('Absent: all'),
  approval_mode: z.enum(approvalModes).nullish().describe('Default: always'),
  headers: HeadersInput.nullish(),
})
export type NewToolServer = z.output<typeof NewToolServer>

export const ToolServerUpdate = NewToolServer.partial()
export type ToolServerUpdate = z.output<typeof ToolServerUpdate>

export const ToolServer = z
  .object({
    name: z.string(),
    url: z.string(),
    description: z.string().optional(),
    allowed_tools: z.array(z.string()).optional(),
    approval_mode: z.enum(approvalModes),
    headers: Headers.optional(),
  })
  .meta({ id: 'ToolServer' })

/** All tools of a server, allowed or not. */
export const OfferedTools = z.array(
  z
    .object({
      name: z.string(),
      title: z.string().optional(),
      description: z.string(),
      input_schema: z.looseObject({}),
      is_allowed: z.boolean(),
    })
    .meta({ id: 'OfferedTool' }),
)

export const ToolServerFailed = problem(502, 'tool-server-failed', 'The tool server did not say which tools it has.')

/** A tool server with decrypted headers. */
export interface ToolServerRow extends ToolServerDefinition {
  description: string | null
}
