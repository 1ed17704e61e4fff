import type { App, ContentDraft, Messages } from '../../../src/client/index.ts'
import type { Random } from '../../faults/random.ts'
import { itemsOf, type Device, type Person, type Place, type Scene, type World } from './scene.ts'
import { once } from './witness.ts'

const emojis = ['👍', '❤️', '🎉']

/** Some texts are there several times, so that they do not tell by which request an item was made. */
let texts = 0
const draw = (random: Random) => (random.isLikely(0.3) ? random.pick(['one', 'two']) : `${once}${++texts}`)

type Step = { weight: number; run: () => Promise<unknown> }

/** Something that happens: what the user does on a device, or what others do, which the devices only hear of. */
export async function act(scene: Scene, world: World, random: Random): Promise<void> {
  const device = random.isLikely(0.75) ? scene.phone : scene.laptop
  const place = random.pick(scene.places)
  const app = device.parley.app(place.id)
  const steps: Step[] = [
    { weight: 55, run: () => write(device, place, random) },
    { weight: 20, run: () => writeElsewhere(random.pick(scene.others), place, scene.ann, random) },
    { weight: 3, run: () => app.type() },
    { weight: 4, run: () => read(device, app, place, random) },
    { weight: 4, run: () => mark(device, random) },
    { weight: 2, run: () => loadMore(app, place) },
    { weight: 3, run: () => changeMembers(world, place, scene, random) },
  ]
  // Much of it is refused, of what others have made or have removed; what was refused has to be nowhere.
  await pick(steps, random)
    .run()
    .catch(() => {})
}

function pick(steps: readonly Step[], random: Random): Step {
  let left = random.next() * steps.reduce((sum, { weight }) => sum + weight, 0)
  return steps.find(({ weight }) => (left -= weight) < 0)!
}

/** A write on something that the device shows. */
async function write({ parley, witness }: Device, place: Place, random: Random): Promise<void> {
  const app = parley.app(place.id)
  if (place.kind === 'files') return writeFile({ parley, witness }, app, random)
  const items = random.pick(itemsOf(app, place)) as Messages
  const row = random.pick([undefined, ...items.get().data])
  try {
    if (row?.id === undefined || random.isLikely(0.5)) {
      const draft: ContentDraft = { text: draw(random) }
      if (random.isLikely(0.2)) draft.options = [{ text: 'a' }, { text: 'b' }]
      return void (await witness.send(items, () => items.send(draft)))
    }
    const options = row.options?.data ?? []
    if (options.length > 0 && random.isLikely(0.5)) return await items.vote(row.id, random.pick(options).id)
    const kind = random.next()
    if (kind < 0.4) await items.edit(row.id, { text: draw(random) })
    else if (kind < 0.8) await items.react(row.id, random.pick([...emojis, null]))
    else if (kind < 0.85) await items.trash(row.id)
    else if (kind < 0.9) await items.trash(row.id).then(() => items.restore(row.id!))
    else await items.delete(row.id)
  } finally {
    for (const { state, discard } of items.get().data) if (state === 'failed') discard?.()
  }
}

async function writeFile({ parley, witness }: Device, { files }: App, random: Random): Promise<void> {
  const { id } = random.pick([{ id: undefined }, ...files.get().data])
  try {
    if (id === undefined || random.isLikely(0.5)) {
      const blob = await parley.upload(new Blob([draw(random)]), { name: `${++texts}.txt` })
      return void (await witness.send(files, () => files.send({ blob_id: blob.id })))
    }
    const kind = random.next()
    if (kind < 0.6) await files.edit(id, { name: `${++texts}.txt` })
    else if (kind < 0.8) await files.trash(id)
    else await files.delete(id)
  } finally {
    for (const { state, discard } of files.get().data) if (state === 'failed') discard?.()
  }
}

/** The list and the noun of what a place holds; of a feed, its posts or the comments on one. */
function addressOf({ id, kind, post }: Place, random: Random) {
  if (kind === 'posts' && random.isLikely(0.4)) return { list: `/api/posts/${post}/comments`, noun: 'comments' }
  const noun = kind === 'posts' || kind === 'comments' || kind === 'files' ? kind : 'messages'
  return { list: `/api/apps/${id}/${noun}`, noun }
}

async function writeElsewhere({ parley: { http } }: Person, place: Place, ann: number, random: Random): Promise<void> {
  const { list, noun } = addressOf(place, random)
  const at = list as '/api/apps/{app}/messages'
  const query = { order_by: 'id desc' } as const
  const { data = [] } = await http.get(at, { path: { app: place.id }, query })
  const { id } = random.pick([{ id: 0 }, ...data])
  const item = `/api/${noun}/${id}`
  const path = { id }
  const kind = random.next()
  if (noun === 'files') {
    if (kind < 0.5 || id === 0) {
      const form = new FormData()
      form.append('blob', new Blob([draw(random)]), `${++texts}.txt`)
      const blob = await http.post('/api/blobs', { body: form } as never)
      await http.post('/api/apps/{app}/files', {
        path: { app: place.id },
        body: { blob_id: (blob as { id: number }).id },
      })
    } else if (kind < 0.8) await http.patch('/api/files/{id}', { path, body: { name: `${++texts}.txt` } })
    else await http.delete('/api/files/{id}', { path })
    return
  }
  const text = random.isLikely(0.2) ? `[Ann](@${ann}) ${draw(random)}` : draw(random)
  if (kind < 0.4 || id === 0) await http.post(at, { path: { app: place.id }, body: { text } })
  else if (kind < 0.6)
    await http.post(`${item}/reactions` as '/api/messages/{id}/reactions', {
      path,
      body: { content: random.pick(emojis) },
    })
  else if (kind < 0.7) await http.patch(item as '/api/messages/{id}', { path, body: { text } })
  else if (kind < 0.8) await http.put('/api/apps/{app}/mark', { path: { app: place.id } })
  else if (kind < 0.9) {
    await http.post(`${item}/trash` as '/api/messages/{id}/trash', { path })
    if (random.isLikely(0.5)) await http.post(`${item}/restore` as '/api/messages/{id}/restore', { path })
  } else await http.delete(item as '/api/messages/{id}', { path })
}

async function read({ parley }: Device, { unread, messages }: App, { id, kind }: Place, random: Random): Promise<void> {
  if (random.isLikely(0.2)) return parley.apps.pin(id, random.isLikely(0.5))
  if (kind !== 'chat_room' && kind !== 'agent_chat') return
  if (random.isLikely(0.3)) return unread.unmark()
  const ids = messages.get().data.flatMap(row => row.id ?? [])
  await unread.mark(random.isLikely(0.5) ? undefined : random.pick([undefined, ...ids]))
}

async function mark({ parley: { notifications } }: Device, random: Random): Promise<void> {
  const { data } = notifications.get()
  if (random.isLikely(0.3)) return notifications.markAll()
  if (data.length > 0) await notifications.mark(random.pick(data).id, random.isLikely(0.7))
}

async function loadMore(app: App, place: Place): Promise<void> {
  for (const items of itemsOf(app, place)) await items.loadMore()
}

/** Somebody leaves and comes back, or may do less; now and then it is the user. */
async function changeMembers({ admin }: World, place: Place, { ann, others }: Scene, random: Random): Promise<void> {
  if (place.kind === 'agent_chat') return
  const user = random.isLikely(0.3) ? ann : random.pick(others).id
  const path = { app: place.id, user }
  const kind = random.next()
  if (kind < 0.4 && user !== ann)
    await admin.http.put('/api/apps/{app}/members/{user}', {
      path,
      body: { access: random.pick(['read', 'write'] as const) },
    })
  else {
    await admin.http.delete('/api/apps/{app}/members/{user}', { path })
    await admin.http.put('/api/apps/{app}/members/{user}', { path, body: { access: 'write' } })
  }
}
