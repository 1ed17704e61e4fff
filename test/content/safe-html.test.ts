import { expect, test } from 'vitest'
import { isSafe, toSafeHtml } from '../../src/resources/content/text/safe-html.ts'

const link = '<a href="https://a.b/?c&amp;d" target="_blank" rel="noopener noreferrer nofollow">e</a>'

test.each([
  '',
  'a &lt; b',
  '<p>a<br>b</p><hr><h6>c</h6>',
  `<ol start="3"><li>${link}</li></ol>`,
  '<pre><code class="language-c++">a</code></pre>',
  '<p><span class="wy-mention" data-eid="u2">Ann</span></p>',
  '<table><thead><tr><th align="center">a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>',
])('%s is safe, and left as it is', html => {
  expect(isSafe(html)).toBe(true)
  expect(toSafeHtml(html)).toBe(html)
})

test.each([
  ['<script>a</script>', ''],
  ['<img src=x onerror=a>', ''],
  ['<p onclick="a">b</p>', '<p>b</p>'],
  ['<P>a</P>', '<p>a</p>'],
  ['<p/onclick=a>b</p>', '<p>b</p>'],
  ['<svg><style>a</style></svg>b', 'b'],
  ['<constructor>a</constructor>', 'a'],
  ['<p>a', '<p>a</p>'],
  ['</em>a', 'a'],
  ['<em><del>a</em></del>', '<em><del>a</del></em>'],
  ['a > b', 'a &gt; b'],
  ['<!-- a -->b', 'b'],
  [link.replace('https', 'javascript'), link.replace(' href="https://a.b/?c&amp;d"', '')],
  [link.replace('https://a.b/', 'https://a.b/" onclick="c'), link.replace('https://a.b/?c&amp;d', 'https://a.b/')],
  ['<code class="language-a b">c</code>', '<code class="language-a">c</code>'],
  ['<span class="other" data-eid="u2">a</span>', '<span data-eid="u2">a</span>'],
])('of %s is left %s', (html, left) => {
  expect(isSafe(html)).toBe(false)
  expect(toSafeHtml(html)).toBe(left)
})

test('elements that are too deep in each other lose their tags, and keep their text', () => {
  const html = `${'<em>'.repeat(1_000)}a${'</em>'.repeat(1_000)}`

  expect(toSafeHtml(html)).toBe(`${'<em>'.repeat(100)}a${'</em>'.repeat(100)}`)
})
