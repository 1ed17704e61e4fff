/** A tool as the model is told of it. */
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
 * The tools of one run: functions of the agent, tools of its tool servers, the search in its knowledge. Opened when a
 * run is begun or continued, closed when this node is done with it. Configuration is read once, when it is opened.
 */
export interface Toolbox {
  /** In the order in which the model is told of them; at most 128, functions first. */
  readonly tools: readonly Tool[]
  /** Names of tool servers that could not be reached: they cost the run their tools and not its life. */
  readonly unavailable: readonly string[]
  /** By the name that the model uses. */
  find(name: string): BoundTool | undefined
  /** Ends the connections to tool servers. Never rejects; safe to call twice. */
  close(): Promise<void>
}

/** A tool with what is needed to call it. */
export interface BoundTool {
  readonly kind: 'function' | 'mcp' | 'search'
  /** True where a call whose result was lost may be made again: it changes nothing, or the same as before. */
  readonly isRepeatable: boolean
  /** Null where it is called without asking. */
  readonly approval: ApprovalRule | null
  /**
   * Calls it. Resolves with an error result for whatever goes wrong: invalid arguments, refused addresses, timeouts,
   * statuses from 400. Rejects only when the signal aborts. Bounded in time and size by itself.
   */
  call(args: Record<string, unknown>, context: CallContext): Promise<ToolResult>
}

/** A person has to approve each call. */
export interface ApprovalRule {
  /** The tool server and the tool by their own names. */
  readonly server: string
  readonly tool: string
  /** SHA-256 of URL, tool and arguments: it is different where any of them has changed since it was approved. */
  binding(args: Record<string, unknown>): Buffer
}

export interface CallContext {
  run: string
  /** The place of the call among the steps of its run: `<run>-<step>` names it for good. */
  step: number
  /** Passages of knowledge that the model was given in this run before; further ones are numbered from the next. */
  passages: number
  signal: AbortSignal
}

export interface ToolResult {
  /** What the model is told, at most 64 KiB. */
  text: string
  isError: boolean
  images?: { image: Buffer; type: string }[]
  /** Files of the passages in the text, in the order of their numbers: `[n]` cites the n-th passage of the run. */
  passages?: { file: number }[]
}

export interface ToolboxRequest {
  agent: { id: number; uid: string | null }
  asker: { id: number; uid: string | null }
  /** Null where an agent is asked in no app. */
  app: { id: number; uid: string | null } | null
}

/**
 * Opens the tools of an agent. Takes at most 10 s, whatever tool servers do; rejects only when the signal aborts or the
 * database cannot be reached.
 */
export type OpenToolbox = (request: ToolboxRequest, signal: AbortSignal) => Promise<Toolbox>

/** A piece of a file that an agent searches. */
export interface Passage {
  file: number
  name: string
  /** Where in the file, as in `page 3`; null where it has no such places. */
  place: string | null
  text: string
}

/** The files that an agent may search. */
export interface Knowledge {
  /** The best passages for a question or some words, best first: at most 8, at most 2 of a file. None: no knowledge. */
  search(agent: number, query: string): Promise<Passage[]>
}
