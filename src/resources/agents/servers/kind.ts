import { verbatim } from '../../../api/json.ts'
import type { ChildKind } from '../children/kind.ts'
import { childStore } from '../children/store.ts'
import { mostServers, NewToolServer, ToolServer, ToolServerUpdate, type ToolServerRow } from './schema.ts'

export const serverStore = childStore<ToolServerRow>('agent_servers', [
  'name',
  'url',
  'description',
  'allowed_tools',
  'approval_mode',
  'headers',
])

export const serverKind: ChildKind<ToolServerRow, NewToolServer, ToolServerUpdate> = {
  noun: { one: 'server', many: 'servers', article: 'a tool' },
  path: 'mcp',
  most: mostServers,
  shapes: { new: NewToolServer, update: ToolServerUpdate, shown: ToolServer },
  toRow: ({ name, url, description, allowed_tools, approval_mode, headers }) => ({
    name,
    url,
    description: description || null,
    allowed_tools: allowed_tools ?? null,
    approval_mode: approval_mode ?? 'always',
    headers: headers ?? null,
  }),
  change: (before, { url, description, allowed_tools, approval_mode }) => ({
    ...before,
    url: url ?? before.url,
    description: description === undefined ? before.description : description || null,
    allowed_tools: allowed_tools === undefined ? before.allowed_tools : allowed_tools,
    approval_mode: approval_mode === undefined ? before.approval_mode : (approval_mode ?? 'always'),
  }),
  show: row => ({ ...row, headers: verbatim(row.headers) }),
  store: serverStore,
}
