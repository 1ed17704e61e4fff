import fc from 'fast-check'
import { expect, test } from 'vitest'
import { appOf, create } from '../support/content.ts'
import { startServer } from '../support/server.ts'
import { upload } from '../support/uploads.ts'

const deeds = ['comment', 'comment', 'comment', 'edit', 'trash', 'restore', 'delete'] as const

/** Something is done to a comment, or to what comments are about; `which` is taken modulo what there is. */
const step = fc.record({ what: fc.constantFrom(...deeds), isParent: fc.boolean(), which: fc.nat(50) })

test('whatever becomes of comments and of what they are about, all of them are as many as can be listed', async () => {
  await using server = await startServer()
  const ann = await server.person('Ann')
  const [feed, library, guestbook] = [
    await appOf(server, 'posts', [ann]),
    await appOf(server, 'files', [ann]),
    await appOf(server, 'comments', [ann]),
  ]

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 30 }), async steps => {
      const { body: blob } = await upload(ann, { name: `${Math.random()}.txt`, content: 'x' })
      const parents = [
        `/api/posts/${(await create(ann, `/api/apps/${feed}/posts`, { text: 'a' })).id}`,
        `/api/posts/${(await create(ann, `/api/apps/${feed}/posts`, { text: 'b' })).id}`,
        `/api/files/${(await create(ann, `/api/apps/${library}/files`, { blob_id: blob.id })).id}`,
        `/api/apps/${guestbook}`,
      ]
      const comments: string[] = []
      for (const { what, isParent, which } of steps) {
        if (what === 'comment') {
          const { status, body } = await ann.post(`${parents[which % 4]}/comments`, { text: 'c' })
          if (status === 201) comments.push(`/api/comments/${body.id}`)
          continue
        }
        // What is refused leaves no trace.
        const path = isParent ? parents[which % 3]! : (comments[which % comments.length] ?? parents[0]!)
        if (what === 'delete') await ann.delete(path)
        else if (what === 'edit') await ann.patch(path, { text: `edited ${which}` })
        else await ann.post(`${path}/${what}`)
      }

      for (const one of [ann, server.admin]) {
        for (const trashed of ['false', 'null', 'true']) {
          const { body } = await one.get(`/api/comments?trashed=${trashed}&take=100`)
          expect(Number(body.count)).toBeLessThan(100)
          expect(body.data?.length ?? 0).toBe(Number(body.count))
          for (const order of ['created_at', 'updated_at desc']) {
            const { body: sorted } = await one.get(`/api/comments?trashed=${trashed}&take=100&order_by=${order}`)
            expect(sorted.data?.length ?? 0).toBe(Number(body.count))
          }
        }
      }
      for (const comment of comments) await ann.delete(comment)
    }),
    { numRuns: 25 },
  )
})
