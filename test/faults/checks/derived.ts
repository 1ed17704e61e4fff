import type { AppRow, Call, EventRow, History, MessageRow } from '../history.ts'
import { isDone, isUnknown } from './answers.ts'
import type { Violation } from './violation.ts'

/** What is kept beside the rows equals what follows from them: totals, the newest messages, markers, what is unread. */
export function checkDerived(history: History): Violation[] {
  return [...checkTotals(history), ...checkMarkers(history), ...checkAcknowledgedMarks(history), ...checkShown(history)]
}

function checkTotals({ end }: History): Violation[] {
  const messages = Map.groupBy(end.messages, ({ app_id }) => app_id)
  return end.apps.flatMap(({ id, head_rev: _, ...kept }) => {
    const found = recount(messages.get(id) ?? [])
    const wrong = (Object.keys(found) as (keyof typeof found)[]).filter(name => found[name] !== kept[name])
    return wrong.map(name => ({
      rule: 'totals equal a recount',
      what: `${name} is ${kept[name]}, the rows say ${found[name]}`,
      app: id,
    }))
  })
}

function recount(messages: MessageRow[]): Omit<AppRow, 'id' | 'head_rev'> {
  const visible = messages.filter(({ is_trashed }) => !is_trashed).toSorted((one, other) => one.id - other.id)
  const last = visible.at(-1)
  return {
    item_count: visible.length,
    trashed_count: messages.length - visible.length,
    made_count: messages.length,
    last_id: last?.id ?? null,
    last_by: last?.created_by ?? null,
    prior_id: visible.findLast(({ created_by }) => created_by !== last?.created_by)?.id ?? null,
  }
}

const place = (app: number, user: number) => `${app}:${user}`

/** Where the log says that each marker stands. */
function foldMarkers(events: EventRow[]): Map<string, number | null> {
  const markers = new Map<string, number | null>()
  for (const { app_id, actor_id, type, entity_id, facts } of events) {
    if (type === 'message_created') markers.set(place(app_id, actor_id), entity_id)
    if (type === 'app_marked') markers.set(place(app_id, actor_id), facts?.marked_id ?? null)
  }
  return markers
}

function checkMarkers({ end }: History): Violation[] {
  const markers = foldMarkers(end.events)
  return end.members.flatMap(({ app_id: app, user_id, marked_id }) => {
    const found = markers.get(place(app, user_id)) ?? null
    if (found === marked_id) return []
    return [{ rule: 'markers equal the log', what: `user ${user_id} is at ${marked_id}, the log says ${found}`, app }]
  })
}

/** Each person makes one move after the other; one of which nobody knows may have been made at any later time. */
function checkAcknowledgedMarks({ calls, end }: History): Violation[] {
  const moves = calls.filter(({ verb }) => verb === 'mark' || verb === 'send')
  const ids = new Map(end.messages.map(({ id, text }) => [text, id]))
  const tried = Map.groupBy(moves, ({ app, user }) => place(app, user))
  return end.members.flatMap(({ app_id: app, user_id, marked_id }) => {
    const own = tried.get(place(app, user_id)) ?? []
    const last = firstAnswers(own).at(-1)
    const target = last === undefined ? null : last.verb === 'send' ? last.id : last.item
    const isLate = own.some(call => {
      const moved = call.verb === 'mark' ? call.item : (ids.get(call.key) ?? null)
      return isUnknown(call) && moved === marked_id
    })
    if (marked_id === target || isLate) return []
    const what = `user ${user_id} is at ${marked_id}, the last acknowledged move was to ${target}`
    return [{ rule: 'no acknowledged mark is lost', what, app, key: last?.key, at: last?.at }]
  })
}

/** Those that did something: a send that is repeated after it was answered moves nothing. */
function firstAnswers(calls: Call[]): Call[] {
  const answered = new Map<string, Call>()
  for (const call of calls) if (isDone(call) && !answered.has(call.key)) answered.set(call.key, call)
  return [...answered.values()]
}

function checkShown({ end }: History): Violation[] {
  const apps = new Map(end.apps.map(app => [app.id, app]))
  const markers = new Map(end.members.map(({ app_id, user_id, marked_id }) => [place(app_id, user_id), marked_id]))
  const messages = Map.groupBy(
    end.messages.filter(({ is_trashed }) => !is_trashed),
    ({ app_id }) => app_id,
  )
  return end.shown.flatMap(({ node, app, user, is_unread, count }) => {
    const marked = markers.get(place(app, user)) ?? 0
    const visible = messages.get(app) ?? []
    const unread = visible.some(({ id, created_by }) => created_by !== user && id > marked)
    const wrong: Violation[] = []
    if (unread !== is_unread) {
      const what = `node ${node} tells user ${user} that is_unread is ${is_unread}; the marker is ${marked}`
      wrong.push({ rule: 'unread follows from the rows', what: `${what}, the newest ${apps.get(app)?.last_id}`, app })
    }
    if (count !== visible.length) {
      wrong.push({ rule: 'totals equal a recount', what: `node ${node} counts ${count}, not ${visible.length}`, app })
    }
    return wrong
  })
}
