import { isAllowed, type ListedTool } from '../../agents/tools/mcp/server.ts'
import type { Principal } from '../../auth/principal.ts'
import { verbatim } from '../../api/json.ts'
import { actorOf } from '../users/represent.ts'
import type { FunctionDefinition } from '../../agents/tools/functions/function.ts'
import type { ToolServerRow } from './servers/schema.ts'
import type { AgentPerson } from './store.ts'

export interface Viewer {
  by: Principal
  origin: string
}

/** The summary of an agent. Only API keys, which manage agents, see its instructions and access. */
export function showAgentSummary({ person, row }: AgentPerson, { by, origin }: Viewer) {
  const isManaged = by.kind === 'key'
  return {
    ...actorOf(person, origin),
    provider: row.provider,
    model: row.model,
    instructions: isManaged ? row.instructions : null,
    functions: isManaged ? row.functions : null,
    knowledge: isManaged ? row.knowledge : null,
    web_search: row.web_search,
    max_tokens: row.max_tokens,
    directories: person.directories,
    comment: person.comment,
    tags: person.tags,
    metadata: verbatim(person.metadata),
    created_at: person.created_at,
    updated_at: person.updated_at,
    is_trashed: person.trashed_at !== null,
  }
}

export function showFunction({ name, description, method, url, headers, parameters }: FunctionDefinition) {
  return { name, description, method, url, headers: verbatim(headers), parameters: verbatim(parameters) }
}

export function showServer({ name, url, description, allowed_tools, approval_mode, headers }: ToolServerRow) {
  return { name, url, description, allowed_tools, approval_mode, headers: verbatim(headers) }
}

export function showTool({ name, title, description, inputSchema }: ListedTool, server: ToolServerRow) {
  return { name, title, description, input_schema: verbatim(inputSchema), is_allowed: isAllowed(server, name) }
}
