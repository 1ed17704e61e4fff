import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { Previews, type PreviewTask } from '../../src/media/previews.ts'

const file = new URL('../../src/resources/files/content/preview-thread.ts', import.meta.url)

/** Takes highlight.js half a minute. */
const hostile: PreviewTask = { form: 'code', language: 'java', text: '$'.repeat(32_768) }
const plain: PreviewTask = { form: 'code', language: 'java', text: 'int a' }
const coloured = '<span class="hljs-type">int</span> a'

test('a preview is made once for all who ask for it', async () => {
  await using desk = openPreviews()

  const first = await Promise.all([1, 2, 3].map(() => desk.ask('a', plain)))
  const later = await desk.ask('a', plain)

  expect([...first, later]).toEqual([coloured, coloured, coloured, coloured])
  expect(desk.made).toEqual(['a'])
})

test('a text that takes too long has no preview, is not tried again, and holds up the next one only briefly', async () => {
  await using desk = openPreviews()

  const answers = await Promise.all([desk.ask('hostile', hostile), desk.ask('plain', plain)])
  const again = await desk.ask('hostile', hostile)

  expect(answers).toEqual([null, coloured])
  expect(again).toBeNull()
  expect(desk.made).toEqual(['hostile', 'plain'])
})

test('where too many wait, the others have no preview now, but may have one later', async () => {
  await using desk = openPreviews()
  const names = Array.from({ length: 25 }, (_, i) => `plain ${i}`)

  const [, ...answers] = await Promise.all([desk.ask('hostile', hostile), ...names.map(name => desk.ask(name, plain))])
  const refused = names.filter((_, i) => answers[i] === null)

  expect(refused).toHaveLength(5)
  expect(await desk.ask(refused[0]!, plain)).toBe(coloured)
})

test('texts of one user that take long hold up those of another by one', async () => {
  await using desk = openPreviews()
  const slow = Array.from({ length: 10 }, (_, i) => desk.ask(`hostile ${i}`, hostile))

  expect(await desk.ask('plain', plain, 2)).toBe(coloured)
  expect(desk.made.indexOf('plain')).toBeLessThanOrEqual(2)
  void Promise.all(slow)
})

test('previews that were not asked for longest are forgotten when there are too many', async () => {
  await using desk = openPreviews()
  const large: PreviewTask = { form: 'Markdown', text: 'a'.repeat(6 * 1024 * 1024) }

  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await desk.ask(name, large)

  expect(desk.made).toEqual(['a', 'b', 'c', 'b'])
})

/** Previews, and the names of those that were made. */
function openPreviews() {
  const previews = new Previews(
    file,
    createLog('error', () => {}),
  )
  const made: string[] = []
  return {
    made,
    ask: (name: string, task: PreviewTask, uploader = 1) =>
      previews.of(name, uploader, async () => {
        made.push(name)
        return task
      }),
    [Symbol.asyncDispose]: () => previews.close(),
  }
}
