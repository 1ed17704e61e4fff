import { useCallback, useMemo } from 'react'
import type { ActorRef, Member } from '@parley/client'
import { useParley } from './context.tsx'
import type { AppRef } from './items.ts'
import { nothing, useLive, useSelected, type Live, type Select } from './live.ts'
import { storeOf } from './store.ts'

const noMembers = nothing<readonly Member[]>([])
const noActors = nothing<readonly ActorRef[]>([])
const noPresence = nothing<ReadonlySet<number>>(new Set())

/** The members of an app, with their access and what they have read. */
export function useMembers(app: AppRef): Live<readonly Member[]>
export function useMembers<Value>(app: AppRef, select: Select<readonly Member[], Value>): Value
export function useMembers<Value>(app: AppRef, select?: Select<readonly Member[], Value>) {
  const parley = useParley()
  const members = app === undefined ? undefined : parley.app(app).members
  return select === undefined ? useLive(members, noMembers) : useSelected(members, noMembers, select)
}

/** A pause between two frames that say that the user is typing: it ends 5 seconds after the last one. */
const typingMs = 3_000

/** Who else is typing in an app. `type` says that the user is, and may be called at each key. */
export function useTyping(app: AppRef): Live<readonly ActorRef[]> & { readonly type: () => void } {
  const parley = useParley()
  const live = useLive(app === undefined ? undefined : parley.app(app).typing, noActors)
  const type = useCallback(() => {
    if (app === undefined) return
    const said = storeOf(parley, `typed ${app}`, () => ({ at: -Infinity }))
    const now = performance.now()
    if (now - said.at < typingMs) return
    said.at = now
    // Typing that is not heard of is nothing to bother a person with.
    parley
      .app(app)
      .type()
      .catch(() => {})
  }, [parley, app])
  return { ...live, type }
}

/** The ids of those members of an app who are there now. */
export function usePresence(app: AppRef): Live<ReadonlySet<number>> {
  const members = useMembers(app).data
  const live = useLive(useParley().presence, noPresence)
  return useMemo(() => {
    const present = members.filter(({ id }) => live.data.has(id))
    return { ...live, data: new Set(present.map(({ id }) => id)) }
  }, [members, live])
}
