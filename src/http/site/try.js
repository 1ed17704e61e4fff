// In pages of the reference: copies examples, and sends GET requests to this server. What is typed as a token is kept in this
// page alone, and forgotten with it.

const main = document.getElementById('main')

function make(tag, attributes, ...children) {
  const element = Object.assign(document.createElement(tag), attributes)
  element.append(...children)
  return element
}

const token = make('input', { type: 'password', autocomplete: 'off', spellcheck: false, placeholder: 'wys_… or wyu_…' })
const hint = 'Copied commands and requests of this page carry it. It is kept until you leave the page.'
main
  .querySelector('.operation')
  ?.before(
    make(
      'div',
      { className: 'credential' },
      make('label', {}, 'API key or access token', token),
      make('p', { className: 'who' }, hint),
    ),
  )

/** An example with what stands for its variables, as far as that is known. */
function fill(command) {
  const given = token.value.trim().replaceAll("'", '')
  const bearer = given === '' ? '"Authorization: Bearer $TOKEN"' : `'Authorization: Bearer ${given}'`
  return command
    .replaceAll('$API', `${location.origin}/api`)
    .replaceAll('$SERVER', location.origin)
    .replaceAll('"$JSON"', "'Content-Type: application/json'")
    .replaceAll(/"\$KEY"|"Authorization: Bearer \$TOKEN"/g, () => bearer)
}

/** Without the clipboard, which browsers keep from pages that are served over plain HTTP, the command is selected. */
async function copy(command, code, status) {
  try {
    await navigator.clipboard.writeText(command)
    status.textContent = 'Copied'
  } catch {
    code.textContent = command
    getSelection().selectAllChildren(code)
    status.textContent = 'Selected: copy it with the keyboard'
  }
}

async function send(path, status, answer) {
  status.textContent = 'Sending…'
  const began = performance.now()
  try {
    const url = new URL(path, location.origin)
    if (url.origin !== location.origin) throw new Error('Only addresses of this server can be tried')
    const authorization = token.value.trim() && { Authorization: `Bearer ${token.value.trim()}` }
    const response = await fetch(url, { headers: { ...authorization }, credentials: 'omit', cache: 'no-store' })
    const text = await response.text()
    status.textContent = `${response.status} ${response.statusText}, ${Math.round(performance.now() - began)} ms`
    answer.textContent = pretty(text).slice(0, 100_000)
    answer.hidden = text === ''
  } catch (error) {
    status.textContent = error.message
    answer.hidden = true
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function toForm(path, status) {
  const address = make('input', { value: path, spellcheck: false, autocomplete: 'off' })
  const answer = make('pre', { tabIndex: 0, hidden: true })
  const form = make('form', { hidden: true }, make('label', {}, 'Path', address), make('button', {}, 'Send'))
  form.addEventListener('submit', event => {
    event.preventDefault()
    void send(address.value, status, answer)
  })
  const open = make('button', { type: 'button', ariaExpanded: 'false' }, 'Try it')
  open.addEventListener('click', () => {
    form.hidden = !form.hidden
    open.ariaExpanded = String(!form.hidden)
    if (!form.hidden) address.focus()
  })
  return { open, form, answer }
}

for (const operation of main.querySelectorAll('.operation')) {
  const code = operation.querySelector('pre > code')
  if (code === null) continue
  const command = code.textContent
  const status = make('span', { role: 'status' })
  const copyButton = make('button', { type: 'button' }, 'Copy as curl')
  copyButton.addEventListener('click', () => void copy(fill(command), code, status))
  const tools = make('div', { className: 'tools' }, copyButton)
  code.parentElement.after(tools)
  const { path } = operation.dataset
  if (path === undefined) tools.append(status)
  else {
    const { open, form, answer } = toForm(path, status)
    tools.append(open, status)
    tools.after(form, answer)
  }
}
