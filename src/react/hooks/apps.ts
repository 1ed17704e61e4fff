import type { App, ListedApp, Parley, ParleyError, Readable, Snapshot } from '@parley/client'
import { useParley } from './context.tsx'
import type { AppRef } from './items.ts'
import { nothing, useLive, useSelected, type Live, type Select } from './live.ts'
import { createStore, storeOf } from './store.ts'

const noApps = nothing<readonly ListedApp[]>([])
const noApp = nothing<ListedApp | undefined>(undefined)

/** The apps of the user, those with the newest activity first, or a selected part of them. */
export function useApps(): Live<readonly ListedApp[]>
export function useApps<Value>(select: Select<readonly ListedApp[], Value>): Value
export function useApps<Value>(select?: Select<readonly ListedApp[], Value>) {
  const { apps } = useParley()
  return select === undefined ? useLive(apps, noApps) : useSelected(apps, noApps, select)
}

/** One app: what it is called, what the user may do in it, and its collections for code outside of components. */
export function useApp(app: AppRef): Live<ListedApp | undefined> & { readonly app: App | undefined } {
  const parley = useParley()
  const live = useLive(app === undefined ? undefined : detailsOf(parley, app), noApp)
  return { ...live, app: app === undefined ? undefined : parley.app(app) }
}

/** What changes an app itself; other events are about what is in it. */
const aboutApp = /^(app_(?!marked)|owner_|member_)/

/** What is known of one app. */
export function detailsOf(parley: Parley, app: string | number): Readable<Snapshot<ListedApp | undefined>> {
  const ref = String(app)
  return storeOf(parley, `app ${ref}`, () =>
    createStore<ListedApp | undefined>(undefined, set => {
      const read = async () => {
        try {
          const data = (await parley.http.get('/api/apps/{app}', { path: { app: ref } })) as ListedApp
          set({ data, status: 'live', reason: undefined, error: undefined })
        } catch (thrown) {
          const error = thrown as ParleyError
          set({ status: error.status === 404 ? 'ended' : 'stale', reason: error.code, error })
        }
      }
      let isKnown = false
      void read()
      return parley.app(ref).follow({
        event: ({ event }) => {
          if (aboutApp.test(event)) void read()
        },
        // The first one says what is being read already.
        snapshot: () => {
          if (isKnown) void read()
          isKnown = true
        },
        ended: reason => set({ status: 'ended', reason }),
      })
    }),
  )
}
