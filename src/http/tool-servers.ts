/** Asks tool servers of agents what they offer; resources/agents/tools.ts does it. */
export interface ToolServers {
  /** All tools that the server has now. Rejects with ToolServerFailed where it does not answer in time, or properly. */
  list(server: { url: string; headers: Record<string, string> | null }): Promise<OfferedTool[]>
}

export interface OfferedTool {
  name: string
  title: string | null
  description: string
  inputSchema: object
}
