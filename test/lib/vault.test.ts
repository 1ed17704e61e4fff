import { expect, test } from 'vitest'
import { Secret } from '../../src/lib/secret.ts'
import { CannotOpen, Vault } from '../../src/lib/vault.ts'

const key = (fill: number) => new Secret(Buffer.alloc(32, fill).toString('base64'))
const place = 'webhooks:secret:7'

test('what is sealed can be opened where it was sealed, and shows nothing of what it is', () => {
  const vault = new Vault([key(1)])

  const sealed = vault.seal('grün 😀', place)

  expect(sealed).toMatch(/^v1\.[\w-]{8}\.[\w-]{16}\.[\w-]+$/)
  expect(vault.open(sealed, place)).toBe('grün 😀')
  expect(vault.seal('grün 😀', place)).not.toBe(sealed)
  expect(vault.open(vault.seal('', place), place)).toBe('')
})

test('what is moved to another place, or changed, cannot be opened', () => {
  const vault = new Vault([key(1)])
  const sealed = vault.seal('secret', place)

  expect(() => vault.open(sealed, 'webhooks:secret:8')).toThrow(CannotOpen)
  expect(() => vault.open(`${sealed.slice(0, -6)}AAAAAA`, place)).toThrow(CannotOpen)
})

test('the first key seals, and every key opens', () => {
  const before = new Vault([key(1)])
  const after = new Vault([key(2), key(1)])
  const old = before.seal('secret', place)

  expect(after.open(old, place)).toBe('secret')
  expect(old.startsWith(before.prefix)).toBe(true)
  expect(after.seal('secret', place).startsWith(before.prefix)).toBe(false)
  expect(() => before.open(after.seal('secret', place), place)).toThrow(/SECRET_KEYS lacks the key/)
})

test('without keys values stay as they are, and what was stored before there were keys can still be read', () => {
  const none = new Vault([])

  expect([none.isLocked, none.seal('secret', place), none.open('secret', place)]).toEqual([false, 'secret', 'secret'])
  expect(new Vault([key(1)]).open('secret', place)).toBe('secret')
})
