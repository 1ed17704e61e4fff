/** A tool as the model sees it. */
export interface Tool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string
  description: string
  /** JSON Schema of an object. */
  parameters: object
}

/** The search in an agent's knowledge: no function may have its name. */
export const searchToolName = 'search_files'

/**
 * The tools of one run: the agent's functions, the tools of its tool servers, the search in its knowledge. Opened when
 * a run begins or continues, closed when this node is done with it. The configuration is read once, when it is opened.
 */
export interface Toolbox {
  /** In the order for the model, each name once; at most 128. */
  readonly tools: readonly BoundTool[]
  /** Names of tool servers that could not be reached; the run continues without their tools. */
  readonly unavailable: readonly string[]
  /** Ends the connections to tool servers. Never rejects; safe to call twice. */
  close(): Promise<void>
}

/** A tool with what is needed to call it. */
export interface BoundTool extends Tool {
  readonly kind: 'function' | 'mcp' | 'search'
  /** True where a call with a lost result may be repeated: it changes nothing, or nothing more. */
  readonly isRepeatable: boolean
  /** Null where calls need no approval. */
  readonly approval: ApprovalRule | null
  /**
   * Calls the tool. Resolves with an error result for any failure: invalid arguments, refused addresses, timeouts,
   * statuses from 400. Rejects only when the signal aborts. Bounded in time and size.
   */
  call(args: Record<string, unknown>, context: CallContext): Promise<ToolResult>
}

/** Requires a user's approval for each call. */
export interface ApprovalRule {
  /** The tool server and the tool, by their own names. */
  readonly server: string
  readonly tool: string
  /** SHA-256 of URL, tool and arguments, which changes if any of them does after the approval. */
  binding(args: Record<string, unknown>): Buffer
}

export interface CallContext {
  run: string
  /** The number of the call among the steps of its run: `<run>-<step>` is unique. */
  step: number
  /** The number of passages given to the model in this run before; further ones are numbered from the next. */
  passages: number
  signal: AbortSignal
}

export interface ToolResult {
  /** The text for the model, at most 64 KiB. */
  text: string
  isError: boolean
  images?: { image: Buffer; type: string }[]
  /** Files of the passages in the text, in the order of their numbers: `[n]` cites the n-th passage of the run. */
  passages?: { file: number }[]
}

export interface ToolboxRequest {
  agent: { id: number; uid: string | null }
  asker: { id: number; uid: string | null }
  /** Null where an agent is asked outside of apps. */
  app: { id: number; uid: string | null } | null
}

/**
 * Opens the tools of an agent. Takes at most 10 s, whatever tool servers do; rejects only when the signal aborts or the
 * database is unavailable.
 */
export type OpenToolbox = (request: ToolboxRequest, signal: AbortSignal) => Promise<Toolbox>
