import { STATUS_CODES } from 'node:http'
import type { Example } from '../about/examples.ts'
import { escapeHtml, highlight } from './markdown.ts'
import {
  resolve,
  showMembers,
  showParameters,
  type Description,
  type OperationParts,
  type Response,
  type ToHtml,
} from './schema-table.ts'

export interface Operation extends OperationParts {
  method: string
  path: string
  /** A request that was sent; undefined where none can be. */
  example: Example | undefined
}

const callers: Record<string, string> = {
  AccessToken: 'an access token',
  HostToken: 'a token of the host',
  ApiKey: 'an API key',
  AdminSession: 'a session of the administration page',
  Secret: 'a token of the settings',
}

/** An operation: what it does, an example, what it takes, and what it answers. */
export function showOperation(operation: Operation, { components }: Description, toHtml: ToHtml): string {
  const { operationId, method, path, summary, description: more = '', security, requestBody } = operation
  const kinds = security.flatMap(one => Object.keys(one)).map(kind => callers[kind] ?? kind)
  const who =
    kinds.length === 0
      ? 'No credential is needed.'
      : `With ${new Intl.ListFormat('en', { type: 'disjunction' }).format(kinds)}.`
  const parameters = operation.parameters.map(parameter => resolve(parameter, components.parameters))
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolve(response, components.responses)] as const,
  )
  const answered = responses.find(([status]) => status < '300')?.[1].content?.['application/json']
  return `<section class="operation" id="${operationId}"${showPath(operation)}>
<h2>${escapeHtml(summary)}</h2>
<p class="call"><span class="method ${method}">${method}</span> <span>${escapeHtml(path)}</span></p>
${toHtml(more)}
<p class="who">${who}</p>
${showExample(operation)}
${fold('Parameters', parameters.length === 0 ? '' : showParameters(parameters, toHtml))}
${fold(`Body (${bodyType})`, body?.schema === undefined ? '' : showMembers(body.schema, toHtml))}
${fold('Answer', answered?.schema === undefined ? '' : showMembers(answered.schema, toHtml))}
${fold('Statuses', showStatuses(responses, toHtml))}
</section>`
}

/** What the page may send for the reader: what reads JSON with a token. */
function showPath({ method, example }: Operation): string {
  if (method !== 'GET' || example === undefined || example.as === 'session') return ''
  return ` data-path="${escapeHtml(example.path)}"`
}

function fold(title: string, html: string): string {
  return html === '' ? '' : `<details><summary>${title}</summary>${html}</details>`
}

function showStatuses(responses: readonly (readonly [string, Response])[], toHtml: ToHtml): string {
  const rows = responses.map(([status, { description }]) => {
    const name = STATUS_CODES[status] ?? ''
    return `<tr><td>${status}</td><td><span class="type">${name}</span>${description === name ? '' : toHtml(description)}</td></tr>`
  })
  return `<div class="wide" role="group" aria-label="Table" tabindex="0"><table><thead><tr><th>Status</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

const credentials: Record<Example['as'], string> = {
  key: ' -H "$KEY"',
  token: ' -H "Authorization: Bearer $TOKEN"',
  session: ' -b cookies -H "X-Parley-Admin: 1"',
  none: '',
}

/** A command for a terminal, with the variables of the guides, and what the server answered. */
function showExample({ method, example }: Operation): string {
  if (example === undefined) return ''
  const { path, as, body, status, answer } = example
  const url = path.replace(/^\/api/, '$API').replace(/^\//, '$SERVER/')
  const verb = method === (body === undefined ? 'GET' : 'POST') ? '' : `-X ${method} `
  const json = body === undefined ? '' : ` -H "$JSON" -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`
  const quoted = /[?&+']/.test(url) || url.includes('$SERVER') ? `"${url}"` : url
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2)
  const shown = answer === undefined ? '' : `<div class="answer">${highlight(text, 'json')}</div>`
  return `${highlight(`curl ${verb}${quoted}${credentials[as]}${json}`, 'sh')}
<p class="who">${status} ${STATUS_CODES[status]}</p>
${shown}`
}
