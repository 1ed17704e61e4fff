import { expect, test } from 'vitest'
import { appOf, create } from '../support/content.ts'
import type { Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { listen, type Heard } from '../support/realtime.ts'
import { startServer, type Person, type Server } from '../support/server.ts'

/** What a client keeps of the posts of an app: what it has loaded, and then only what events say. */
class Store {
  readonly posts = new Map<string, Body>()
  readonly comments = new Map<string, Body>()
  readonly #votes = new Map<string, string>()
  readonly #counts = new Map<string, string>()

  constructor(posts: Body[]) {
    for (const post of posts) this.#put(this.posts, post)
  }

  /** An event about what the client does not have changes nothing; counts are taken over, and never added up. */
  apply({ event, ...shown }: Heard): void {
    if (event.startsWith('post_')) this.#put(this.posts, shown.post, event === 'post_deleted')
    if (event.startsWith('vote_')) this.#votes.set(shown.option.id, shown.option.votes.count)
    if (!event.startsWith('comment_')) return
    const { parent } = shown.comment
    this.#put(this.comments, shown.comment, event === 'comment_deleted')
    this.#counts.set(parent.id, parent.comments.count)
  }

  #put(items: Map<string, Body>, item: Body, isDeleted = false): void {
    if (isDeleted || item.is_trashed) return void items.delete(item.id)
    items.set(item.id, item)
    if (item.comments !== undefined) this.#counts.set(item.id, item.comments.count)
    for (const option of item.options?.data ?? []) this.#votes.set(option.id, option.votes.count)
  }

  shown() {
    const posts = [...this.posts.values()].map(({ id, text, options }) => ({
      id,
      text,
      comments: this.#counts.get(id),
      votes: (options?.data ?? []).map((option: Body) => [option.id, this.#votes.get(option.id)]),
    }))
    return { posts, comments: [...this.comments.values()].map(({ id, text }) => ({ id, text })) }
  }
}

test('who was away ends where the server is, though what is gone by then was left out', async () => {
  await using database = await createDatabase()
  await using server = await startServer({ DATABASE_URL: database.url })
  const [ann, ben] = [await server.person('Ann'), await server.person('Ben')]
  const app = await appOf(server, 'posts', [ann, ben])
  const post = (text: string) =>
    create(ann, `/api/apps/${app}/posts`, { text, options: [{ text: 'A' }, { text: 'B' }] })
  const comment = (on: Body, text: string) => create(ben, `/api/posts/${on.id}/comments`, { text })
  const list = async () => (await ann.get(`/api/apps/${app}/posts?out=details&order_by=id`)).body.data
  const [kept, gone] = [await post('kept'), await post('gone')]
  const early = await comment(kept, 'early')
  const store = new Store(await list())
  let last = await headOf(server, ann, app)
  const after = last

  await ben.delete(`/api/comments/${(await comment(kept, 'never seen')).id}`)
  await ben.delete(`/api/comments/${early.id}`)
  await ben.post(`/api/comments/${(await comment(kept, 'in the trash')).id}/trash`)
  const back = await comment(kept, 'back again')
  for (const verb of ['trash', 'restore']) await ben.post(`/api/comments/${back.id}/${verb}`)
  const [a, b] = store.posts.get(kept.id).options.data
  await create(ben, `/api/options/${a.id}/vote`)
  expect((await ann.patch(`/api/posts/${kept.id}`, { options: [{ id: b.id, text: 'B' }] })).status).toBe(200)
  await create(ben, `/api/options/${b.id}/vote`)
  await ann.delete(`/api/posts/${(await post('never seen')).id}`)
  await ann.delete(`/api/posts/${gone.id}`)

  const end = await headOf(server, ann, app)
  // Another node, which has seen nothing, reads the log.
  await using other = await startServer({ DATABASE_URL: database.url })
  await using inbox = await listen(other.url, { token: ann.token })
  await inbox.subscribe(app, after)
  for (const frame of await inbox.hearUntil('event', ({ rev }) => rev === end)) {
    if (frame.type === 'event') {
      expect(Number(frame.prev), 'nothing is missing').toBeLessThanOrEqual(Number(last))
      store.apply(frame)
    }
    last = frame.rev ?? last
  }
  const known = new Store(await list())
  for (const one of (await ann.get(`/api/posts/${kept.id}/comments?order_by=id`)).body.data)
    known.comments.set(one.id, one)
  expect(store.shown()).toEqual(known.shown())
  expect(store.shown()).toMatchObject({ posts: [{ text: 'kept', comments: '1' }], comments: [{ text: 'back again' }] })
})

async function headOf({ url }: Server, { token }: Person, app: string): Promise<string> {
  await using inbox = await listen(url, { token })
  return (await inbox.subscribe(app)).head_rev
}
