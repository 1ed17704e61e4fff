export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** An endpoint that an agent may call. */
export interface FunctionDefinition {
  name: string
  description: string
  method: (typeof methods)[number]
  /** `{name}` in its path and query is filled from the arguments. */
  url: string
  headers: Record<string, string> | null
  /** JSON Schema of the arguments; null: there are none. */
  parameters: Record<string, unknown> | null
}
