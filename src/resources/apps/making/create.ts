import { globalCommand, type GlobalWork } from '../../../engine/global/command.ts'
import { blankMember, type Access, type AppRow } from '../../../engine/state.ts'
import { invalid } from '../../../lib/errors.ts'
import { violatedConstraint } from '../../../postgres/sql.ts'
import { conflicts, requireFit, UnknownPeople } from '../commands.ts'
import { appCreated } from '../events.ts'
import { isConversation, type Kind } from '../kinds.ts'
import { findPair, insertApp, insertMembers } from '../store.ts'

/** A new app with resolved references. `members` are users and agents, each once, possibly including the caller. */
export interface AppDraft extends Pick<
  AppRow,
  'uid' | 'name' | 'description' | 'metadata' | 'tags' | 'access' | 'directory_id' | 'picture_id'
> {
  type: Kind
  members: Participant[]
  /** Made by the upsert of a token: later callers of the upsert may join. */
  isJoinable: boolean
  /** True where the caller is an agent. */
  isByAgent: boolean
}

interface Participant {
  id: number
  /** The reference in the request. */
  ref: string
  isAgent: boolean
  /** False for trashed users and users whom the caller cannot see: they cannot become members. */
  isKnown: boolean
}

export interface Created {
  id: number
  /** False where the private chat of the two members existed. */
  isNew: boolean
}

/**
 * Makes an app. With a token the caller is its owner and first member; with an API key only `members` are. A private
 * chat exists once for each pair of users: an existing one is returned. Refuses with 422 for members that the type does
 * not allow or the caller cannot see, and for a taken uid.
 */
export const createApp = globalCommand(
  'createApp',
  async (work: GlobalWork, draft: AppDraft): Promise<Created> => {
    const { by, sql } = work
    const caller = by.kind === 'user' ? by.user : null
    const others = draft.members.filter(({ id }) => id !== caller)
    const fault = faultOf(draft, caller, others)
    const people = [...(caller === null ? [] : [caller]), ...others.map(({ id }) => id)]
    const pair = draft.type === 'private_chat' && fault === null ? toPair(people) : null
    const found = pair === null ? null : await findPair(sql, pair)
    if (found === null) requireKnown(others)
    if (fault !== null) throw invalid({ members: [fault] })
    requireFit(draft.type, draft.access, draft.directory_id)
    if (found !== null) return { id: found, isNew: false }

    const [rev, ...joinedRevs] = (await work.nextIds(1 + people.length)) as [number, ...number[]]
    const owner = ownerOf(draft, caller)
    const app = await insert(work, draft, { pair, owner, rev })
    const joined = people.map((user, at) => {
      const access: Access = user === owner ? 'admin' : 'write'
      return { app_id: app.id, user_id: user, access, joined_rev: joinedRevs[at]! }
    })
    if (joined.length > 0) await insertMembers(sql, joined)
    work.addApp(
      app,
      joined.map(row => ({ ...blankMember(row.app_id, row.user_id), ...row })),
    )
    work.emitFirst(appCreated, app.id, rev, app)
    return { id: app.id, isNew: true }
  },
  { sharesCommit: true },
)

/** The fault of a conversation's members; null where they are valid. */
function faultOf({ type, members, isByAgent }: AppDraft, caller: number | null, others: Participant[]): string | null {
  const agents = others.filter(member => member.isAgent).length
  const people = others.length - agents
  if (type === 'private_chat') {
    const wanted = caller === null ? 2 : 1
    const isWithSelf = others.length === 0 && members.length === 1
    if (others.length !== wanted && !isWithSelf) return `must name exactly ${wanted}`
  }
  if (type === 'agent_chat' && isByAgent) return 'must be one agent and one person, who makes the chat'
  if (type === 'agent_chat' && (agents !== 1 || people !== (caller === null ? 1 : 0))) {
    return caller === null ? 'must name one agent and one person' : 'must name exactly one agent'
  }
  return null
}

function requireKnown(others: Participant[]): void {
  const unknown = others.filter(({ isKnown }) => !isKnown).map(({ ref }) => ref)
  if (unknown.length > 0) throw UnknownPeople('members', unknown)
}

/** A private chat has no owner, so that neither member can shut the other out; an agent chat belongs to its user. */
function ownerOf({ type, members }: AppDraft, caller: number | null): number | null {
  if (type === 'private_chat') return null
  if (type === 'agent_chat') return caller ?? members.find(member => !member.isAgent)!.id
  return caller
}

function toPair(people: number[]): string {
  const [first, second = first] = people.toSorted((a, b) => a - b)
  return `${first}:${second}`
}

interface Place {
  pair: string | null
  owner: number | null
  rev: number
}

async function insert(work: GlobalWork, draft: AppDraft, { pair, owner, rev }: Place): Promise<AppRow> {
  const { members: _, isJoinable, ...details } = draft
  try {
    return await insertApp(work.sql, {
      ...details,
      is_joinable: isJoinable && !isConversation(draft.type),
      pair,
      owner_id: owner,
      rev,
      head_rev: rev,
      created_at: work.now,
      created_by: work.by.user,
    })
  } catch (error) {
    throw conflicts[violatedConstraint(error) ?? '']?.() ?? error
  }
}
