import { ArgumentChecker } from '../../agents/tools/arguments/checker.ts'
import { listMs, ToolServerConnection } from '../../agents/tools/mcp/connection.ts'
import { failureOf } from '../../agents/tools/mcp/failure.ts'
import { ToolServerCache } from '../../agents/tools/mcp/server-cache.ts'
import { openToolbox, type ToolboxParts } from '../../agents/tools/toolbox.ts'
import type { Toolbox, ToolboxRequest } from '../../agents/tools/tool.ts'
import { ipCheck } from '../../egress/ip-policy.ts'
import { Egress } from '../../egress/egress.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Sql } from '../../postgres/sql.ts'
import type { ListedTool, ServerAddress } from '../../agents/tools/mcp/server.ts'
import { functionStore } from './functions/kind.ts'
import { toSearchTool } from './knowledge/search-tool.ts'
import { ToolServerFailed } from './servers/schema.ts'
import { serverStore } from './servers/kind.ts'
import { findKnowledge } from './knowledge/store.ts'

export interface ToolSettings {
  version: string
  /** Ranges of addresses that may be reached beyond public, private and loopback ones, and ranges that may not. */
  allow: readonly string[]
  deny: readonly string[]
  /** Signs calls of functions. */
  secret: Secret | null
}

interface AgentToolsOptions {
  sql: Sql
  /** Decrypts the headers of functions and tool servers. */
  vault: Vault
  settings: ToolSettings
  now: () => Date
  log: Log
}

/** Opens the configured tools of agents. `close` ends its thread. */
export class AgentTools {
  readonly #sql: Sql
  readonly #vault: Vault
  readonly #parts: ToolboxParts

  constructor({ sql, vault, settings, now, log }: AgentToolsOptions) {
    const { version, allow, deny, secret } = settings
    this.#sql = sql
    this.#vault = vault
    this.#parts = {
      egress: new Egress({ isAllowed: ipCheck({ allowsPrivate: true, allow, deny }) }),
      checker: new ArgumentChecker(log),
      cache: new ToolServerCache(),
      version,
      secret,
      now,
      log,
    }
  }

  /** See OpenToolbox. */
  async open(request: ToolboxRequest, signal: AbortSignal): Promise<Toolbox> {
    const { id } = request.agent
    const [functions, servers, knowledge] = await Promise.all([
      functionStore.list(this.#sql, id),
      serverStore.list(this.#sql, id),
      findKnowledge(this.#sql, id),
    ])
    const configured = {
      functions: functions.map(row => functionStore.open(this.#vault, row)),
      servers: servers.map(row => serverStore.open(this.#vault, row)),
      own: knowledge.length > 0 ? [toSearchTool(this.#sql, id)] : [],
    }
    return openToolbox(configured, request, this.#parts, signal)
  }

  /** The tools that a server has now, allowed or not. */
  async list(server: ServerAddress): Promise<ListedTool[]> {
    const connection = new ToolServerConnection(server, this.#parts)
    try {
      const { tools } = await connection.list(AbortSignal.timeout(listMs), { isFresh: true })
      return tools
    } catch (error) {
      throw ToolServerFailed({ reason: failureOf(error) })
    } finally {
      await connection.close()
    }
  }

  close(): Promise<void> {
    return this.#parts.checker.close()
  }
}
