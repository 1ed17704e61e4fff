import { useEffect, useState } from 'react'
import type { Member } from '@parley/client'
import { useParley } from '../../hooks/context.tsx'
import type { AppRef } from '../../hooks/items.ts'
import { useMembers } from '../../hooks/people.ts'
import { useMe } from '../base/me.ts'
import { offeredMost, toOffered, type Naming } from './mentions.ts'

/** How long it waits for the next letter, in milliseconds. */
const pauseMs = 150

/** The people that a name being typed may mean: members that are known, and of a large app those that the server finds. */
export function useOffered(app: AppRef, naming: Naming | undefined): readonly Member[] {
  const parley = useParley()
  const me = useMe()
  const members = useMembers(app)
  const [found, set] = useState<readonly Member[]>([])
  const q = members.hasMore ? naming?.typed.trim() : undefined
  useEffect(() => {
    if (app === undefined || q === undefined || q === '') return
    const abort = new AbortController()
    const ask = async () => {
      const query = { q, take: offeredMost }
      const { data = [] } = await parley.http.get('/api/apps/{app}/members', {
        path: { app },
        query,
        signal: abort.signal,
      })
      set(data)
    }
    // Without an answer, those that are known are offered.
    const timer = setTimeout(() => void ask().catch(() => {}), pauseMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [parley, app, q])
  const known = new Set(members.data.map(({ id }) => id))
  const all = [...members.data, ...found.filter(({ id }) => !known.has(id))]
  return toOffered(
    all.filter(({ id }) => id !== me),
    naming,
  )
}
