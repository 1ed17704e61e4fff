import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { readText } from '../../src/resources/content/text/render.ts'
import { Renderer } from '../../src/resources/content/text/renderer.ts'

const ann = 1
const ben = 2
const links = 'https://a.example/b?c=d '.repeat(2_000)

let renderer: Renderer

beforeAll(() => {
  renderer = new Renderer(createLog('error'))
})

afterAll(() => renderer.close())

test('a short text is rendered at once, a long one apart, with the same result', async () => {
  const short = { text: 'See https://a.example **now**' }
  const long = { text: `${links}[N](@u7)` }

  const read = renderer.read(ann, long)

  expect(renderer.read(ann, short)).toEqual(readText(short))
  expect(read).toBeInstanceOf(Promise)
  expect(await read).toEqual(readText(long))
})

test('uids are found in a long text, and become ids', async () => {
  const text = `${links}[N](@ann)`

  const found = await renderer.read(ann, { text })
  const { parsed } = await renderer.read(ann, { text, ids: new Map([['ann', 7]]) })

  expect(found).toEqual({ uids: ['ann'], parsed: null })
  expect(parsed?.mentions).toEqual([7])
})

test('a text waits for one of a user who has sent many, not for all', async () => {
  const done: string[] = []
  const render = async (user: number, name: string) => {
    await renderer.read(user, { text: links })
    done.push(name)
  }

  const flood = Array.from({ length: 20 }, (_, i) => render(ann, `ann ${i}`))
  await Promise.all([...flood, render(ben, 'ben')])

  expect(done.indexOf('ben')).toBeLessThanOrEqual(2)
})

test('a text that cannot be rendered is refused, to be tried again', async () => {
  const closed = new Renderer(createLog('error'), new URL('file:///nowhere.ts'))

  await expect(closed.read(ann, { text: links })).rejects.toMatchObject({ status: 503 })
  await closed.close()
})
