import { expect, test } from 'vitest'
import { fill } from '../../src/resources/notifications/text.ts'

test.each([
  'https://evil.example/?a=b_c',
  'HTTP://EVIL.example',
  'www.evil.example',
  'Look: WWW.evil.example',
  'me@evil.example',
  'mailto:me@evil.example',
  '[here](https://evil.example)',
  '<https://evil.example>',
  'https\\://evil.example',
  '[Ann](@u1)',
  '**bold** `code` <b>',
])('what fills a template is text, whatever it looks like: %s', arg => {
  const { html, plain } = fill('**{0}** wrote: "{1}"', [arg, arg])

  expect(plain).toBe(`${arg} wrote: "${arg}"`)
  expect(html).toMatch(/^<p><strong>[^<>]*<\/strong> wrote: "[^<>]*"<\/p>$/)
})

test('a template may have links of its own, and what is said to somebody stays as it was', () => {
  const { text, html } = fill('See https://team.example: "{0}"', ['@Bo, at 10:30 we meet. Fine?'])

  expect(text).toBe('See https://team.example: "@Bo, at 10:30 we meet. Fine?"')
  expect(html).toContain('<a href="https://team.example"')
})
