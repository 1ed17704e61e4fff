import type { Call, History, MessageRow } from '../history.ts'
import { isDone, isUnknown } from './answers.ts'
import type { Violation } from './violation.ts'

/** Answers that mean what they say: done, come back later. Anything else is a fault of its own. */
const expected = new Set([200, 201, 204, 429, 503])

/** What was acknowledged is there, once, and every repetition was answered with it. */
export function checkWrites(history: History): Violation[] {
  const wishes = Map.groupBy(history.calls, ({ key }) => key)
  return [
    ...history.calls.filter(({ status }) => status !== null && !expected.has(status)).map(toUnexpected),
    ...checkSends(wishes, history),
    ...checkEdits(history),
    ...checkTrash(history),
  ]
}

function toUnexpected({ verb, key, app, status, node, doneAt }: Call): Violation {
  return { rule: 'answers make sense', what: `node ${node} answered ${verb} with ${status}`, at: doneAt, key, app }
}

function checkSends(wishes: Map<string, Call[]>, { end }: History): Violation[] {
  const rows = Map.groupBy(end.messages, ({ text }) => text)
  const violations: Violation[] = []
  for (const [key, calls] of wishes) {
    const { verb, app, at } = calls[0]!
    if (verb !== 'send') continue
    const stored = rows.get(key) ?? []
    const place = { key, app, at }
    const ids = new Set(calls.filter(isDone).map(({ id }) => id))
    if (stored.length > 1) {
      const what = `one send was stored ${stored.length} times: ${stored.map(({ id }) => id).join(', ')}`
      violations.push({ rule: 'no write is doubled', what, ...place })
    }
    if (ids.size > 0 && stored.length === 0) {
      violations.push({ rule: 'no acknowledged write is lost', what: `message ${[...ids].join()} is gone`, ...place })
    }
    if (ids.size > 1) {
      const what = `one key was answered with messages ${[...ids].join(', ')}`
      violations.push({ rule: 'repetitions are answered with the same item', what, ...place })
    }
    const strange = [...ids].find(id => stored.length === 1 && id !== stored[0]!.id)
    if (strange !== undefined) {
      const what = `the answer named message ${strange}, stored is ${stored[0]!.id}`
      violations.push({ rule: 'no acknowledged write is lost', what, ...place })
    }
  }
  for (const [text, [row]] of rows) {
    if (wishes.has(text)) continue
    violations.push({ rule: 'nothing is made up', what: `nobody has sent message ${row!.id}`, app: row!.app_id })
  }
  return violations
}

/** An edit that was not answered may have been made at any later time: then any of them may be the last. */
function checkEdits({ calls, end }: History): Violation[] {
  const edits = Map.groupBy(
    calls.filter(({ verb }) => verb === 'edit'),
    ({ item }) => item!,
  )
  const rows = new Map(end.messages.map(row => [row.id, row]))
  return [...edits].flatMap(([item, tried]) => {
    const last = tried.findLast(isDone)
    const possible = new Set(tried.filter(isUnknown).map(({ key }) => key))
    if (last !== undefined) possible.add(last.key)
    const edit = rows.get(item)?.edit ?? null
    if (edit === null ? last === undefined : possible.has(edit)) return []
    const what = `message ${item} says ${edit}, the last acknowledged edit is ${last?.key ?? 'none'}`
    return [{ rule: 'no acknowledged edit is lost', what, key: last?.key, app: tried[0]!.app, at: last?.at }]
  })
}

function checkTrash({ calls, end }: History): Violation[] {
  const wanted = new Map(calls.filter(({ verb }) => verb === 'trash').map(call => [call.item, call]))
  const done = new Set(calls.filter(call => call.verb === 'trash' && isDone(call)).map(({ item }) => item))
  const isWrong = ({ id, is_trashed }: MessageRow) => (is_trashed ? !wanted.has(id) : done.has(id))
  return end.messages.filter(isWrong).map(({ id, app_id: app, is_trashed }) => ({
    rule: 'no acknowledged write is lost',
    what: `message ${id} is ${is_trashed ? 'in the trash, where nobody put it' : 'not in the trash'}`,
    app,
    key: wanted.get(id)?.key,
    at: wanted.get(id)?.at,
  }))
}
