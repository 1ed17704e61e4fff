import { expect, test } from 'vitest'
import { check } from './checker.ts'
import { faithfulHistory } from './doctored.ts'
import type { History } from './history.ts'
import { tell } from './story.ts'

test('a history in which everything was kept has nothing to object to', () => {
  expect(check(faithfulHistory())).toEqual([])
})

const { native, hub } = faithfulHistory().sightings
const nativeEvent = (rev: number) => native.findIndex(sighting => sighting.frame === 'event' && sighting.rev === rev)

/** What is done to the faithful history, and the promises that are broken then. */
const doctored: [name: string, doctor: (history: History) => void, rules: string[]][] = [
  [
    'an acknowledged message that is gone',
    ({ end }) => void end.messages.splice(0, 1),
    ['no acknowledged write is lost'],
  ],
  [
    'a send that was stored twice',
    ({ end }) => void end.messages.push({ ...end.messages[1]!, id: 107 }),
    ['no write is doubled', 'each message has one event'],
  ],
  [
    'a repetition that was answered with another item',
    ({ calls }) => void (calls[3]!.id = 107),
    ['repetitions are answered with the same item'],
  ],
  ['an answer that says nothing to anybody', ({ calls }) => void (calls[0]!.status = 500), ['answers make sense']],
  [
    'an acknowledged edit that is gone',
    ({ end }) => void (end.messages[0]!.edit = null),
    ['no acknowledged edit is lost'],
  ],
  [
    'a message in the trash where nobody put it',
    ({ end }) => void (end.messages[1]!.is_trashed = true),
    ['no acknowledged write is lost', 'totals equal a recount'],
  ],
  ['an event that is gone from the log', ({ end }) => void end.events.splice(3, 1), ['one history without a gap']],
  [
    'an app that is further than its log',
    ({ end }) => void (end.apps[0]!.head_rev = 108),
    ['one history without a gap'],
  ],
  [
    'a write that stands before what was acknowledged when it began',
    ({ calls }) => Object.assign(calls[0]!, { at: 30, doneAt: 31 }) && void calls.splice(3, 1),
    ['acknowledged first comes first'],
  ],
  ['a read that shows an older state', ({ calls }) => void (calls[6]!.id = 101), ['reads show what was acknowledged']],
  ['a total that has drifted', ({ end }) => void end.apps[0]!.item_count++, ['totals equal a recount']],
  ['a node that counts something else', ({ end }) => void end.shown[1]!.count++, ['totals equal a recount']],
  [
    'a marker that was lost',
    ({ end }) => void (end.members[0]!.marked_id = 101),
    ['markers equal the log', 'no acknowledged mark is lost', 'unread follows from the rows'],
  ],
  [
    'a node that shows as unread what was read',
    ({ end }) => void (end.shown[0]!.is_unread = true),
    ['unread follows from the rows'],
  ],
  [
    'an event that a replay skips',
    ({ sightings }) => void sightings.native.splice(nativeEvent(104), 1),
    ['subscribers miss nothing'],
  ],
  [
    'an event that is skipped, and told by a server that has forgotten it',
    ({ sightings }) => {
      sightings.native.splice(nativeEvent(105), 1)
      sightings.native.at(-1)!.prev = 104
    },
    ['subscribers miss nothing'],
  ],
  [
    'an event that is skipped before a live one',
    ({ sightings }) => void sightings.native.splice(nativeEvent(105), 1),
    ['subscribers hear without a gap', 'subscribers miss nothing'],
  ],
  [
    'an event that is told again after resuming',
    ({ sightings }) =>
      void sightings.native.splice(nativeEvent(104), 0, { ...native[1]!, connection: 2, node: 2, at: 26 }),
    ['nothing is heard twice or out of order'],
  ],
  [
    'a subscription that goes on further ahead',
    ({ sightings }) => void (sightings.native[3]!.rev = 103),
    ['subscribers go on where they were'],
  ],
  [
    'an observer that never got a subscription',
    ({ observers }) => void observers.push('native 2'),
    ['subscriptions begin'],
  ],
  [
    'a reset where history is kept',
    ({ sightings }) => void (sightings.native[5]!.frame = 'reset'),
    ['no subscriber has to reload in its epoch'],
  ],
  [
    'an event that is told as another one than the log has',
    ({ sightings }) => void (sightings.native[1]!.item = 103),
    ['everybody hears what the log says'],
  ],
  [
    'a hub client that hears again on a node that is behind',
    ({ sightings }) => void sightings.hub.splice(4, 0, { ...hub[1]!, connection: 2, node: 2, at: 21 }),
    ['hub clients hear nothing twice'],
  ],
  [
    'a hub client that hears the later one first',
    ({ sightings }) => {
      sightings.hub[1]!.rev = 104
      sightings.hub[4]!.rev = 102
    },
    ['hub clients hear in order'],
  ],
  [
    'a hub client that misses something while it is connected',
    ({ sightings }) => void sightings.hub.pop(),
    ['hub clients miss nothing while they are connected'],
  ],
  ['a delivery that never came', ({ deliveries }) => void deliveries.splice(0, 1), ['deliveries are complete']],
  [
    'deliveries in another order',
    ({ deliveries }) => void deliveries.push(deliveries.shift()!),
    ['deliveries are in order'],
  ],
  [
    'a delivery that comes again under another name',
    ({ deliveries }) => void (deliveries[2]!.guid = 'w'),
    ['what is delivered again is named the same'],
  ],
]

test.each(doctored)('%s is found', (_name, doctor, rules) => {
  const history = faithfulHistory()

  doctor(history)

  const found = new Set(check(history).map(({ rule }) => rule))
  expect([...found]).toEqual(expect.arrayContaining(rules))
})

/** The faithful history, and then a promotion that loses a message that was acknowledged and told. */
function historyWithLoss(): History {
  const history = faithfulHistory()
  const about = { observer: 'native 1', app: 1 } as const
  history.losses.push({ from: 40, untilAt: 60 })
  const send = { at: 41, doneAt: 42, verb: 'send', key: 'f', app: 1, user: 7, item: null, node: 2 } as const
  history.calls.push({ ...send, status: 201, id: 109 })
  history.calls.push({ ...send, at: 62, doneAt: 63, verb: 'edit', key: 'g', item: 109, status: 404, id: null })
  history.sightings.native.push(
    {
      ...about,
      connection: 2,
      node: 2,
      at: 42,
      frame: 'event',
      rev: 110,
      prev: 106,
      event: 'message_created',
      item: 109,
    },
    { ...about, connection: 2, node: 2, at: 61, frame: 'closed', rev: 0, app: 0 },
    { ...about, connection: 3, node: 1, at: 65, frame: 'subscribed', rev: 106, after: 110, askedAt: 64 },
    { ...about, connection: 3, node: 1, at: 65, frame: 'reset', rev: 106 },
  )
  history.sightings.hub.push({ ...hub[4]!, at: 42, rev: 110, item: 109 })
  history.deliveries.push({ receiver: 'receiver 1', app: 1, action: 'message_created', at: 43, guid: 'v', rev: 110 })
  return history
}

test('what a promotion has lost is missed by nobody', () => {
  expect(check(historyWithLoss())).toEqual([])
})

test.each<[string, (history: History) => void]>([
  [
    'told on a later connection',
    ({ sightings }) => void sightings.native.push({ ...sightings.native.at(-4)!, connection: 3, at: 66 }),
  ],
  ['shown to a later read', ({ calls }) => void calls.push({ ...calls[6]!, at: 70, doneAt: 71, key: 'h', id: 109 })],
  ['delivered long after', ({ deliveries }) => void (deliveries.at(-1)!.at = 10_000)],
])('what a promotion has lost and is %s is found', (_name, doctor) => {
  const history = historyWithLoss()

  doctor(history)

  expect(check(history).map(({ rule }) => rule)).toEqual(['nobody is served what the database has lost'])
})

test('what was lost before a promotion that lost something else is found', () => {
  const history = historyWithLoss()
  history.end.messages.splice(0, 1)

  expect(check(history).map(({ rule }) => rule)).toContain('no acknowledged write is lost')
})

test('what is told of a violation is what belongs to it: the fault before, the requests, the log, and who heard what', () => {
  const history = faithfulHistory()
  history.sightings.native.splice(nativeEvent(104), 1)

  const [story] = check(history).map(violation => tell(violation, history))

  expect(story!.split('\n').slice(0, 9)).toEqual([
    'subscribers miss nothing: native 1 has never heard message_created 104, at 0.032 s',
    '  0.015 s to 0.025 s  fault: kill -9 node 1',
    '  0.014 s  send "b" through node 1: no answer at 0.018 s',
    '  0.020 s  send "b" through node 2: 201, id 103 at 0.022 s',
    '  log of app 1: 100 after 0, app_created of 1',
    '  log of app 1: 102 after 100, message_created of 101',
    '  log of app 1: 104 after 102, message_created of 103',
    '  log of app 1: 105 after 104, message_updated of 101',
    '  log of app 1: 106 after 105, app_marked of 1',
  ])
  expect(story).toContain('native 1, connection 2 to node 2: event 105 message_updated prev 104')
})
