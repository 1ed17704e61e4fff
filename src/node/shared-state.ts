import { Credentials } from '../auth/credentials.ts'
import { LoginThrottle } from '../auth/login-throttle.ts'
import { deletedUser, systemUser } from '../auth/principal.ts'
import { UserCache } from '../auth/user-cache.ts'
import { GlobalCommands } from '../engine/global/global-commands.ts'
import { SharedLog } from '../log/shared-log.ts'
import { toHostSettings } from '../config/part-options.ts'
import { AdminSessions } from '../resources/admin/sign-in/sessions.ts'
import { openHostTokens } from '../resources/auth/host-tokens.ts'
import { KnownAgents } from '../resources/agents/runs/known-agents.ts'
import { Triggers } from '../resources/agents/runs/triggers.ts'
import { Registrations } from '../resources/webhooks/consumer.ts'
import type { Base } from './base.ts'
import type { Files } from './files.ts'
import type { Storage } from './storage.ts'

export type SharedState = Awaited<ReturnType<typeof openSharedState>>

/** What belongs to no app (users, keys, webhooks, agents), and the caches that follow its log. */
export async function openSharedState(parts: Base & Storage & Files) {
  const { sql, vault, now } = parts
  const sharedLog = new SharedLog(sql)
  await sharedLog.start()
  const userCache = new UserCache(sql)
  await userCache.follow(sharedLog)
  await userCache.load([systemUser, deletedUser])
  const globalCommands = new GlobalCommands(sql, sharedLog, now, vault)
  const loginThrottle = new LoginThrottle(now)
  const { hostTokens, keyJobs } = await openHostTokens(toHostSettings(parts.config), {
    ...parts,
    sharedLog,
    globalCommands,
    loginThrottle,
  })
  const credentials = new Credentials(sql, sharedLog, now, hostTokens)
  const adminSessions = new AdminSessions({ sql, globalCommands, sharedLog, now })
  const registrations = new Registrations(sql)
  await registrations.follow(sharedLog)
  const agents = new KnownAgents(sql)
  await agents.follow(sharedLog)
  const triggers = new Triggers({ agents, userCache })
  return {
    sharedLog,
    userCache,
    globalCommands,
    loginThrottle,
    keyJobs,
    credentials,
    adminSessions,
    registrations,
    triggers,
  }
}
