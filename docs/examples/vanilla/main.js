import { createParley } from '@parley/client'

const { url } = await (await fetch('/config')).json()
const parley = createParley({ url, token: () => fetch('/token').then(response => response.text()) })
const garden = parley.app('garden')
const find = selector => document.querySelector(selector)

/** Rows by their key: one that has not changed is the same object, and stays as it is. */
const shown = new Map()

/** A row that is sent again by a click, where it has failed. */
function makeRow(key) {
  const li = document.createElement('li')
  li.addEventListener('click', () => shown.get(key).row.retry?.())
  return li
}

garden.messages.subscribe(({ data, status, error }) => {
  find('#status').textContent = error ? error.message : status
  const rows = data.map(message => {
    const { row, li = makeRow(message.key) } = shown.get(message.key) ?? {}
    if (row !== message) {
      li.textContent = `${message.created_by?.name ?? ''}: ${message.plain ?? ''}`
      li.dataset.state = message.state
      shown.set(message.key, { row: message, li })
    }
    return li
  })
  find('#messages').replaceChildren(...rows)
})

garden.typing.subscribe(({ data }) => {
  find('#typing').textContent = data.map(({ name }) => `${name} is typing`).join(', ')
})

find('form').addEventListener('submit', event => {
  event.preventDefault()
  const { text } = event.target.elements
  if (text.value.trim() === '') return
  // What fails is shown by its row.
  garden.messages.send({ text: text.value }).catch(() => {})
  text.value = ''
})
find('form').addEventListener('input', () => void garden.type().catch(() => {}))
