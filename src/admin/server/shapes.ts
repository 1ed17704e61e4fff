import type { z } from 'zod'
import type { AdminSession as AdminSessionShape } from '../../resources/admin/sign-in/routes.ts'
import type { Job as JobShape } from '../../resources/admin/jobs.ts'
import type { Node as NodeShape } from '../../resources/admin/nodes.ts'
import type * as sessions from '../../resources/admin/sessions.ts'
import type { SettingShape } from '../../resources/admin/setting-info.ts'
import type { Storage as StorageShape } from '../../resources/admin/storage.ts'
import type { Approval as ApprovalShape } from '../../resources/agents/approvals/routes.ts'
import type * as functions from '../../resources/agents/functions/schema.ts'
import type * as runs from '../../resources/agents/runs/schema.ts'
import type * as agents from '../../resources/agents/schema.ts'
import type * as servers from '../../resources/agents/servers/schema.ts'
import type * as testChat from '../../resources/agents/test-chat/schema.ts'
import type * as apps from '../../resources/apps/schema.ts'
import type * as audit from '../../resources/audit/schema.ts'
import type * as content from '../../resources/items/schema.ts'
import type * as directories from '../../resources/directories/schema.ts'
import type * as files from '../../resources/files/schema.ts'
import type * as keys from '../../resources/keys/schema.ts'
import type { Grant as GrantShape } from '../../resources/tokens/grants/routes.ts'
import type { SignIn as SignInShape } from '../../resources/sign-ins/routes.ts'
import type * as users from '../../resources/users/schema.ts'
import type * as webhooks from '../../resources/webhooks/schema.ts'
import type { Wire } from './wire.ts'

/** What the server answers, by the schemas that it is declared with. Types alone: no code of the server is bundled. */
type Shape<Schema extends z.ZodType> = Wire<z.output<Schema>>

export type AdminSession = Shape<typeof AdminSessionShape>
export type Agent = Shape<typeof agents.Agent>
export type AgentFunction = Shape<typeof functions.AgentFunction>
export type AgentTest = Shape<typeof testChat.AgentTest>
export type App = Shape<typeof apps.App>
export type Approval = Shape<typeof ApprovalShape>
export type AuditEntry = Shape<typeof audit.AuditEntry>
export type Content = Shape<typeof content.Content>
export type Delivery = Shape<typeof webhooks.Delivery>
export type DeliverySummary = Shape<typeof webhooks.DeliverySummary>
export type Directory = Shape<typeof directories.Directory>
export type DirectoryRef = Shape<typeof users.DirectoryRef>
export type File = Shape<typeof files.File>
export type Grant = Shape<typeof GrantShape>
export type Job = Shape<typeof JobShape>
export type Key = Shape<typeof keys.Key>
export type MadeKey = Shape<typeof keys.MadeKey>
export type Member = Shape<typeof apps.MemberItem>
export type Node = Shape<typeof NodeShape>
export type OfferedTool = Shape<typeof servers.OfferedTools>[number]
export type Provider = Shape<typeof runs.AgentProviders>[number]
export type RealtimeSession = Shape<typeof sessions.RealtimeSession>
export type RealtimeSessions = Shape<typeof sessions.RealtimeSessions>
export type RotatedWebhook = Shape<typeof webhooks.RotatedWebhook>
export type Run = Shape<typeof runs.Run>
export type RunDetails = Shape<typeof runs.RunDetails>
export type Setting = Shape<typeof SettingShape>
export type SignIn = Shape<typeof SignInShape>
export type Storage = Shape<typeof StorageShape>
export type ToolServer = Shape<typeof servers.ToolServer>
export type Usage = Shape<typeof runs.AgentUsage>[number]
export type User = Shape<typeof users.User>
export type Webhook = Shape<typeof webhooks.Webhook>
export type WebhookDetails = Shape<typeof webhooks.WebhookDetails>
export type { FigureName } from '../../monitoring/figures.ts'
