/** A tool server (Model Context Protocol) that an agent may use. */
export interface ToolServerDefinition {
  /** Tells the server from others in the names of tools. */
  name: string
  url: string
  /** By the server's own names; null: all of them. */
  allowed_tools: string[] | null
  approval_mode: 'always' | 'never'
  headers: Record<string, string> | null
}

/** Who asks a server what, as far as its answers depend on it. */
export type ServerAddress = Pick<ToolServerDefinition, 'url' | 'headers'>

/** A tool as its server tells of it. */
export interface ListedTool {
  name: string
  title: string | null
  description: string
  inputSchema: object
  /** A call may be made twice: it changes nothing, or the same as before. */
  isRepeatable: boolean
}

export function isAllowed({ allowed_tools }: Pick<ToolServerDefinition, 'allowed_tools'>, tool: string): boolean {
  return allowed_tools === null || allowed_tools.includes(tool)
}
