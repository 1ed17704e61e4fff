import { expect, test } from 'vitest'
import { LoginThrottle } from '../../src/auth/login-throttle.ts'

const fail = async () => null
const succeed = async () => 'in'

test('failures are forgotten after a minute, each on its own', async () => {
  let now = 0
  const loginThrottle = new LoginThrottle(() => new Date(now))
  for (let i = 0; i < 10; i++) {
    now = i * 1000
    await loginThrottle.run(['name ann'], fail)
  }

  const early = loginThrottle.run(['name ann'], succeed)

  await expect(early).rejects.toMatchObject({ status: 429, facts: { retry_after: 51 } })
  now = 60_000
  await expect(loginThrottle.run(['name ann'], fail)).resolves.toBeNull()
  await expect(loginThrottle.run(['name ann'], succeed)).rejects.toMatchObject({
    status: 429,
    facts: { retry_after: 1 },
  })
})

test('when too many wait, the rest is refused at once', async () => {
  const loginThrottle = new LoginThrottle(() => new Date(0))
  const door = Promise.withResolvers<string>()

  const waiting = Array.from({ length: 64 }, (_, i) => loginThrottle.run([`name ${i}`], () => door.promise))
  const late = loginThrottle.run(['name ann'], succeed)

  await expect(late).rejects.toMatchObject({ status: 503 })
  door.resolve('in')
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['in']))
  await expect(loginThrottle.run(['name ann'], succeed)).resolves.toBe('in')
})

test('an attempt that breaks counts as no failure, and does not hold up the next', async () => {
  const loginThrottle = new LoginThrottle(() => new Date(0))
  const broken = Array.from({ length: 20 }, () =>
    loginThrottle.run(['name ann'], () => Promise.reject(new Error('no database'))),
  )

  const outcomes = await Promise.allSettled(broken)

  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
  await expect(loginThrottle.run(['name ann'], succeed)).resolves.toBe('in')
})

test('names without end take bounded memory: those that failed longest ago are forgotten', async () => {
  const loginThrottle = new LoginThrottle(() => new Date(0))
  for (let i = 0; i < 10; i++) await loginThrottle.run(['name ann', 'name ben'], fail)
  const before = loginThrottle.run(['name ann'], succeed)
  await expect(before).rejects.toMatchObject({ status: 429 })

  for (let i = 0; i < 9999; i++) await loginThrottle.run([`name ${i}`], fail)

  await expect(loginThrottle.run(['name ann'], succeed)).resolves.toBe('in')
  await expect(loginThrottle.run(['name ben'], succeed)).rejects.toMatchObject({ status: 429 })
})
