import { useCallback } from 'react'
import type { ActorRef, Member, Parley, ParleyError, Readable, Snapshot } from '@parley/client'
import { useParley } from './context.tsx'
import type { AppRef } from './items.ts'
import { nothing, useLive, useSelected, type Live, type Select } from './live.ts'
import { createStore, storeOf } from './store.ts'

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

/** How often it is asked who is there: no frame says so. */
const presenceMs = 20_000

/** The ids of those members of an app who are there now. */
export function usePresence(app: AppRef): Live<ReadonlySet<number>> {
  const parley = useParley()
  return useLive(app === undefined ? undefined : presenceOf(parley, String(app)), noPresence)
}

function presenceOf(parley: Parley, ref: string): Readable<Snapshot<ReadonlySet<number>>> {
  return storeOf(parley, `presence ${ref}`, () =>
    createStore<ReadonlySet<number>>(noPresence.data, set => {
      let hasEnded = false
      let timer: ReturnType<typeof setTimeout> | undefined
      const read = async () => {
        try {
          const { data = [] } = await parley.http.get('/api/apps/{app}/members', {
            path: { app: ref },
            query: { take: 100 },
          })
          const present = data.filter(({ presence }) => presence === 'active').map(({ id }) => id)
          set({ data: new Set(present), status: 'live', error: undefined })
        } catch (thrown) {
          set({ status: 'stale', error: thrown as ParleyError })
        }
        if (!hasEnded) timer = setTimeout(() => void read(), presenceMs)
      }
      void read()
      return () => {
        hasEnded = true
        clearTimeout(timer)
      }
    }),
  )
}
