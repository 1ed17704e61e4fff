import { expect, test } from 'vitest'
import { maskUrl, unmaskUrl } from '../../src/admin/parts/url.ts'

const stored = 'https://ann:p%40ss@example.com/hook?a=b'

test('a URL is shown without its password, and otherwise as it is', () => {
  expect(maskUrl(stored)).toBe('https://ann:***@example.com/hook?a=b')
  expect(maskUrl('https://:secret@example.com/')).toBe('https://:***@example.com/')
  for (const other of ['https://example.com', 'https://ann@example.com/x', 'HTTP://Example.com/<b>', 'no URL'])
    expect(maskUrl(other)).toBe(other)
})

test('a URL that was edited keeps its password, unless it got another or none', () => {
  expect(unmaskUrl(maskUrl(stored), stored)).toBe(stored)
  expect(unmaskUrl('https://ann:***@example.org/other', stored)).toBe('https://ann:p%40ss@example.org/other')
  for (const typed of ['https://ann:new@example.com/hook', 'https://example.com/hook'])
    expect(unmaskUrl(typed, stored)).toBe(typed)
})
