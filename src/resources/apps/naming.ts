import type { Work } from '../../engine/command.ts'
import type { UserCache } from '../../auth/user-cache.ts'
import type { AppRow, AppState, State } from '../../engine/state.ts'

/** Enough names to fill 256 characters, however short they are. */
const nameLimit = 130

/** The users after whom an app without a name is titled, in joining order. */
export function namesakes(state: Pick<State, 'app' | 'members'>): number[] {
  const { app } = state
  if (app.name !== null || (app.type !== 'private_chat' && app.type !== 'chat_room')) return []
  const ids: number[] = []
  for (const { user_id, access } of state.members()) {
    if (access !== null) ids.push(user_id)
    if (ids.length > nameLimit) break
  }
  return ids
}

/**
 * The title of an app for a user: its name, or in conversations the names of the other members in joining order, or the
 * user's own. Null for other apps without a name. The namesakes must be in memory.
 */
export function titleOf(state: Pick<AppState, 'app' | 'members'>, viewer: number, userCache: UserCache): string | null {
  const { app } = state
  if (app.name !== null) return app.name
  const all = namesakes(state)
  if (all.length === 0) return null
  const others = all.filter(id => id !== viewer)
  const named = others.length > 0 ? others : all
  const title = named.map(id => userCache.show(id).display_name).join(', ')
  // Characters as PostgreSQL counts them, so that no surrogate pair is cut.
  return title.length > 256 ? Array.from(title).slice(0, 256).join('') : title
}

/** What an agent chat without a name is called by when its person writes; null for any other app, or nothing to read. */
export function titleBy({ app, by, userCache }: Work<unknown>, plain: string | null): string | null {
  if (app.type !== 'agent_chat' || app.name !== null || plain === null) return null
  if (by.kind !== 'user' || userCache.find(by.user)?.is_agent !== false) return null
  return toTitle(plain)
}

/**
 * The app as webhook receivers see it: an agent chat without its name, which usually quotes its user's first message.
 */
export function redactApp(app: AppRow): AppRow {
  return app.type === 'agent_chat' ? { ...app, name: null } : app
}

/** The first sentence, cut between words to at most 64 characters. */
function toTitle(plain: string): string | null {
  const [line = ''] = plain.trim().split('\n', 1)
  const sentence = /^.*?[.!?…。！？](?=\s|$)/u.exec(line)?.[0] ?? line
  const whole = /^.{1,64}(?=\s|$)/u.exec(sentence)?.[0]
  const title = (whole ?? Array.from(sentence).slice(0, 64).join('')).trim()
  return title === '' ? null : title
}
