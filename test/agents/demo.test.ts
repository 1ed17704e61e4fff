import { expect, test } from 'vitest'
import { openDesk } from '../../src/demo/desk.ts'
import { servePages } from '../../src/demo/pages.ts'
import { seed, signIn } from '../../src/demo/workspace.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/server.ts'

test('the front desk of the demo asks before it books a room, without any network', async () => {
  await using server = await startServer({ ASSISTANT_PROVIDER: 'builtin' })
  const access = { url: server.url, key: server.key }
  const people = await seed(access)
  const pages = await servePages({ server: server.url, key: server.key, port: 0, people: [] })
  try {
    const ada = await signIn(access, people[0]!)
    await openDesk(access, ada, pages.url)
    const [approval] = await eventually(async () => {
      const { body } = await server.admin.get('/api/approvals')
      expect(body.count).toBe('1')
      return body.data
    })

    await server.admin.post(`/api/approvals/${approval.id}`, { approved: true })
    await openDesk(access, ada, pages.url)

    await eventually(async () => {
      const { body } = await server.admin.get(`/api/apps/${approval.app.id}/messages?order_by=id&out=details`)
      expect(body.data.at(-1).text).toContain('Garden at 15:00 is booked.')
      expect(body.data).toHaveLength(3)
    })
  } finally {
    await pages.close()
  }
})
