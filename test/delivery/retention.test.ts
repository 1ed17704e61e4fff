import { expect, test } from 'vitest'
import { createOutbox } from '../support/outbox.ts'

test('a webhook keeps its last 1,000 attempts, and whatever waits, however far back', async () => {
  await using outbox = await createOutbox()
  const webhook = await outbox.registerUrl('http://127.0.0.1:1/')
  await outbox.sql`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, status, created_at)
    select ${webhook}, n, 'messages', 'message_created', 1, 1, case n when 7 then 'queued' else 'success' end, now()
    from generate_series(1, 3500) n`

  await outbox.forget()

  expect(await outbox.statuses(webhook)).toEqual({ success: 1_000, queued: 1 })
  expect(await outbox.record(webhook, 7)).toBeDefined()
  expect(await outbox.record(webhook, 2_501)).toMatchObject({ status: 'success' })
  expect(await outbox.record(webhook, 2_500)).toBeUndefined()
})

test('nothing is kept, and nothing waits, for longer than 30 days', async () => {
  await using outbox = await createOutbox()
  const webhook = await outbox.registerUrl('http://127.0.0.1:1/')
  await outbox.sql`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, status, created_at)
    select ${webhook}, n, 'messages', 'message_created', 1, 1, (array['failure', 'queued'])[n % 2 + 1],
      now() - interval '31 days' + n * interval '1 minute'
    from generate_series(1, 2880) n`

  await outbox.forget(new Date(Date.now() - 2 * 86_400_000))
  expect(await outbox.record(webhook, 1)).toBeDefined()
  await outbox.forget()

  expect(await outbox.record(webhook, 1_439)).toBeUndefined()
  expect(await outbox.record(webhook, 1_442)).toBeDefined()
})

test('a queue that nobody works off loses its oldest deliveries beyond 100,000, and the log says how many', async () => {
  await using outbox = await createOutbox()
  const webhook = await outbox.registerUrl('http://127.0.0.1:1/')
  await outbox.sql`
    insert into deliveries (webhook_id, event_id, trigger, action, app_id, actor_id, created_at)
    select ${webhook}, n, 'messages', 'message_created', 1, 1, now() from generate_series(1, 102500) n`

  const warnings = [...(await outbox.forget()), ...(await outbox.forget())]

  expect(warnings).toMatchObject([{ webhook, lost: 2_500 }])
  expect(await outbox.statuses(webhook)).toEqual({ queued: 100_000 })
  expect(await outbox.record(webhook, 2_500)).toBeUndefined()
})

test('what a deleted webhook left behind, and what waits for a disabled one, is swept up', async () => {
  await using outbox = await createOutbox()
  const [gone, disabled] = [
    await outbox.registerUrl('http://127.0.0.1:1/'),
    await outbox.registerUrl('http://127.0.0.1:1/'),
  ]
  await outbox.queue(gone, [1, 2])
  await outbox.queue(disabled, [1, 2])
  await outbox.sql`delete from webhooks where id = ${gone}`
  await outbox.sql`update webhooks set is_enabled = false`
  await outbox.sql`update deliveries set status = 'success' where event_id = 1`

  await outbox.forget()

  expect(await outbox.statuses(gone)).toEqual({})
  expect(await outbox.statuses(disabled)).toEqual({ success: 1 })
})
