import type { Tool } from '@modelcontextprotocol/client'

/** A tool server (Model Context Protocol) that an agent may use. */
export interface ToolServerDefinition {
  /** Distinguishes servers in the names of tools. */
  name: string
  url: string
  /** By the server's own names; null: all. */
  allowed_tools: string[] | null
  approval_mode: 'always' | 'never'
  headers: Record<string, string> | null
}

/** The server and credentials, as far as its answers depend on them. */
export type ServerAddress = Pick<ToolServerDefinition, 'url' | 'headers'>

/** A tool as its server describes it. */
export interface ListedTool {
  name: string
  title: string | null
  description: string
  inputSchema: object
  /** A call may be repeated: it changes nothing, or nothing more. */
  isRepeatable: boolean
  /** The part of its definition that a call needs. */
  definition: Tool
}

export function isAllowed({ allowed_tools }: Pick<ToolServerDefinition, 'allowed_tools'>, tool: string): boolean {
  return allowed_tools === null || allowed_tools.includes(tool)
}
