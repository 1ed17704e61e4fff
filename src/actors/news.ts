import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Apps } from './apps.ts'
import type { Direct } from './direct.ts'
import type { Environment } from './environment.ts'
import type { Typing } from './typing.ts'

interface NewsParts {
  bus: Bus
  apps: Apps
  direct: Direct
  environment: Environment
  typing: Typing
  clock: Clock
  log: Log
  /** Aborted when this node stops: then there is nobody left to read news for. */
  signal: AbortSignal
}

interface Committed {
  rev: number
}

/** Apps that a node has written to. */
interface Moved {
  apps: number[]
}

interface Typed {
  user: number
}

type AppNews = Committed | Typed

const environmentChannel = 'environment'
const movedChannel = 'moved'

/** How long the apps that a node writes to are gathered for those who do not have them in memory. A guess. */
const gatherMs = 100

const channelOf = (app: number) => `app:${app}`

/**
 * Makes news travel fast between nodes: each commit is told on its app's channel, and whoever has the app in memory
 * reads what is new at once instead of at the next look. Which apps a node has written to is told to all, a few times
 * a second, for the people there who have a part in them. Nothing depends on it: messages that get lost cost a second.
 */
export function spreadNews({ bus, apps, direct, environment, typing, clock, log, signal }: NewsParts): void {
  const written = new Set<number>()
  const subscribed = new Map<number, () => void>()
  const moved = new Set<number>()
  let isHearing = false

  const look = async () => {
    const heard = [...moved]
    moved.clear()
    await apps.look(heard)
  }
  const hear = (app: number, news: AppNews) => {
    if ('rev' in news) {
      if ((apps.peek(app)?.app.head_rev ?? news.rev) >= news.rev) return
      // What arrives in one turn is looked up together.
      if (moved.size === 0) setImmediate(() => void look().catch(failed))
      moved.add(app)
      return
    }
    // Said again here, for the sessions of this node, and not passed on: it came from the bus.
    isHearing = true
    typing.start(app, news.user)
    isHearing = false
  }
  const tellAll = (app: number) => {
    if (written.size === 0) clock.after(gatherMs, tellGathered)
    written.add(app)
  }
  const tellGathered = () => {
    bus.publish(movedChannel, { apps: [...written] } satisfies Moved)
    written.clear()
  }
  const failed = (error: unknown) => {
    if (!signal.aborted) log.warn({ error }, 'News of other nodes could not be read; the next look will')
  }

  apps.watch({
    onLoaded(app) {
      if (subscribed.has(app)) return
      const end = bus.subscribe(channelOf(app), news => hear(app, news as AppNews))
      subscribed.set(app, end)
    },
    onDropped(app) {
      subscribed.get(app)?.()
      subscribed.delete(app)
    },
    onCommitted(events) {
      const { app_id, rev } = events.at(-1)!
      bus.publish(channelOf(app_id), { rev } satisfies Committed)
      tellAll(app_id)
    },
  })
  typing.listen((app, user, isTyping) => {
    if (isTyping && !isHearing) bus.publish(channelOf(app), { user } satisfies Typed)
  })
  direct.listen(({ app_id }) => tellAll(app_id))
  direct.watch(rev => bus.publish(environmentChannel, { rev } satisfies Committed))
  bus.subscribe(environmentChannel, news => void environment.reach((news as Committed).rev).catch(failed))
}

/** Hears which apps were written to, on every node, also those that this one does not have in memory. */
export function hearMoved(bus: Bus, hear: (apps: number[]) => void): void {
  bus.subscribe(movedChannel, news => hear((news as Moved).apps))
}
