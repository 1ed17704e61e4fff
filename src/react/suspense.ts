/**
 * Hooks that wait by Suspense until there is data: the same as those of `@parley/react`, whose `status` is never
 * `loading`. What was refused, such as an app that is not there, is thrown to the nearest error boundary.
 */
import type { Parley, Readable, Snapshot } from '@parley/client'
import { detailsOf, useApp as app, useApps as apps } from './hooks/apps.ts'
import { useParley } from './hooks/context.tsx'
import {
  useComments as comments,
  useFiles as files,
  useMessages as messages,
  usePosts as posts,
  type Parent,
} from './hooks/items.ts'
import { whileAwaited } from './hooks/live.ts'
import { useMembers as members } from './hooks/people.ts'
import { useNotifications as notifications } from './hooks/personal.ts'

type Ref = string | number

export const useApps = waiting(apps, parley => parley.apps)
export const useNotifications = waiting(notifications, parley => parley.notifications)
export const useApp = waiting(app, ofApp(detailsOf))
export const useMessages = waiting(
  messages,
  ofApp((parley, app) => parley.app(app).messages),
)
export const usePosts = waiting(
  posts,
  ofApp((parley, app) => parley.app(app).posts),
)
export const useFiles = waiting(
  files,
  ofApp((parley, app) => parley.app(app).files),
)
export const useMembers = waiting(
  members,
  ofApp((parley, app) => parley.app(app).members),
)
export const useComments = waiting(
  comments,
  ofApp((parley, app, parent) => parley.app(app).comments(parent)),
)

interface Find {
  (parley: Parley, ...args: never[]): Readable<Snapshot<unknown>> | undefined
}

/** While it is not known which app, there is nothing to wait for. */
function ofApp(find: (parley: Parley, app: Ref, parent?: Parent) => Readable<Snapshot<unknown>>): Find {
  return (parley: Parley, app?: Ref, parent?: Parent) => (app === undefined ? undefined : find(parley, app, parent))
}

function waiting<Hook>(useLive: Hook, find: Find): Hook {
  const useWaiting = (...args: never[]) => {
    const collection = find(useParley(), ...args)
    if (collection !== undefined) wait(collection)
    return whileAwaited(() => (useLive as (...args: never[]) => unknown)(...args))
  }
  return useWaiting as Hook
}

const loads = new WeakMap<object, Promise<void>>()

/** Throws what React waits for, while there is no data. */
function wait(collection: Readable<Snapshot<unknown>>): void {
  const { status, error } = collection.get()
  if (status === 'ended' && error !== undefined) throw error
  if (status !== 'loading') return
  let load = loads.get(collection)
  if (load === undefined) {
    load = new Promise<void>(resolve => {
      // A component that waits is not mounted, and has no subscription of its own.
      const stop = collection.subscribe(({ status }) => {
        if (status === 'loading') return
        loads.delete(collection)
        resolve()
        // The component that waited goes on with what is known, before that is given up.
        setTimeout(stop, lingerMs)
      })
    })
    loads.set(collection, load)
  }
  throw load
}

/** How long a collection is kept up to date for a component that is about to be mounted, in milliseconds. */
const lingerMs = 5_000
