import type { Principal } from '../../auth/principal.ts'
import { readState } from '../../engine/registry.ts'
import type { AppState } from '../../engine/state.ts'
import type { Typing } from '../../engine/typing.ts'
import type { Snapshot, TakeSnapshot } from '../../realtime/topics/snapshot.ts'
import { requireRead } from '../apps/members/access.ts'
import { showMember } from '../apps/members/represent.ts'
import { namesakes } from '../apps/naming.ts'
import { countMembers, firstMembers, showAppSummary } from '../apps/represent.ts'
import { listAtWork, showRun } from '../agents/runs/at-work.ts'
import type { Served } from '../route.ts'
import { actorOf } from '../users/represent.ts'
import { readNewest } from './newest.ts'

/** The most members of a snapshot; the others are in the app's list of members. */
const shownMembers = 100

type Parts = Served<'sql' | 'apps' | 'userCache' | 'presence'> & { typing: Pick<Typing, 'in'>; origin: () => string }

/**
 * Returns the function that takes snapshots for clients of realtime: see docs/realtime.md. All is read in one transaction,
 * so that it is as of one rev. 404 where the user may not see the app at that rev.
 */
export function snapshots(parts: Parts): TakeSnapshot {
  return async (app, by, asked) => {
    const { sql, userCache } = parts
    await userCache.load([by.user])
    const read = await sql.begin('isolation level repeatable read read only', async tx => {
      const state = await readState(tx, app)
      requireRead(state, by, userCache)
      const [newest, runs] = await Promise.all([
        readNewest(state, asked.items, { ...parts, sql: tx, by, origin: parts.origin() }),
        asked.hasRuns ? listAtWork(tx, app) : [],
      ])
      return { state, newest, runs }
    })
    const typing = parts.typing.in(app).filter(user => user !== by.user)
    const members = firstMembers(read.state, userCache, shownMembers)
    const agents = read.runs.map(({ agent_id }) => agent_id)
    await userCache.load([...members, ...typing, ...agents, ...namesakes(read.state), ...read.newest.names])
    return show(read, { typing, members }, by, parts)
  }
}

interface Read {
  state: AppState
  newest: Awaited<ReturnType<typeof readNewest>>
  runs: Awaited<ReturnType<typeof listAtWork>>
}

function show(
  { state, newest, runs }: Read,
  shown: { typing: number[]; members: number[] },
  by: Principal,
  { userCache, presence, origin: originOf }: Parts,
): Snapshot {
  const { app } = state
  const origin = originOf()
  const toActor = (user: number) => actorOf(userCache.show(user), origin)
  const toMember = (user: number) => {
    const row = state.member(user)
    return showMember(userCache.show(user), row, { app, origin, access: row?.access ?? 'none', presence })
  }
  return {
    rev: app.head_rev,
    shown: {
      app: showAppSummary(state, { by, userCache, origin }),
      item_type: newest.type,
      items: newest.show(),
      has_more: newest.hasMore,
      members: shown.members.map(toMember),
      member_count: countMembers(state, userCache),
      typing: shown.typing.map(toActor),
      runs: runs.map(run => showRun(run, { state: run.state }, { userCache, origin })),
    },
  }
}
